import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { Exchange } from '../../../../proxy/exchange/exchange.ts';
import type { CallGuards, GuardedCall } from '../../../../proxy/mcp/guard/contract.ts';
import { compileCallGuards } from '../../../../proxy/mcp/guard/guards.ts';
import type { ServiceClient } from '../../../../proxy/services/contract.ts';
import type { BackendPolicies } from '../../../../src/config/ir/index.ts';
import type { McpProcessor } from '../../../../src/config/ir/policy/mcp-guardrails.ts';
import { type ExtMcpServer, type Handler, serveExtMcp } from '../../../services/ext-mcp.ts';
import type { Rig } from '../../backends/rig.ts';
import { untraced } from '../../exchange/build.ts';
import { context, deps, type TestDeps } from '../../policy/build.ts';
import { openService } from '../../services/rig.ts';

export interface Processing extends Partial<Omit<McpProcessor, 'service'>> {
  /** A port, or a processor to start. */
  readonly at: number | Handler;
  readonly policies?: BackendPolicies;
}

export interface Guarding {
  readonly guards: CallGuards;
  readonly servers: readonly ExtMcpServer[];
  readonly deps: TestDeps;
  /** `phase action` of each decision that was counted. */
  readonly counted: string[];
}

/** Guards that ask real processors, one after the other. */
export async function guarding(rig: Rig, ...processings: Processing[]): Promise<Guarding> {
  const servers: ExtMcpServer[] = [];
  const clients: ServiceClient[] = [];
  for (const { at, policies } of processings) {
    const server = typeof at === 'number' ? null : await serveExtMcp(at);
    if (server !== null) {
      servers.push(server);
      rig.cleanup(() => server.close());
    }
    clients.push(openService(rig, server?.port ?? Number(at), policies).client);
  }
  const counted: string[] = [];
  const own = deps();
  const counter = (_name: string, labels: readonly string[]) => ({ add: () => counted.push(labels.join(' ')) });
  const processors = processings.map(({ at: _at, policies: _policies, ...rest }): McpProcessor => ({
    service: { target: { kind: 'reference', backend: '/p' }, policies: {} },
    methods: [['*', 'full']],
    failureMode: 'failClosed',
    metadata: {},
    requestHeaders: { allowed: [], disallowed: [] },
    ...rest,
  }));
  const services = { open: () => clients.shift() ?? unknown() };
  // `as`: of the metrics only this counter is asked for.
  const guards = compileCallGuards({ processors }, context({ ...own, services, metrics: { counter } as never }));
  return { guards: guards ?? unknown(), servers, deps: own, counted };
}

function unknown(): never {
  throw new Error('there is no such thing');
}

export function callOf(parts: Partial<GuardedCall> & { exchange?: Exchange } = {}): GuardedCall {
  return { exchange: untraced(), method: 'tools/call', targets: ['time'], headers: new Headers(), ...parts };
}
