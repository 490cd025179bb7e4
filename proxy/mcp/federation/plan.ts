import type { McpBackend } from '../../../src/config/ir/mcp.ts';
import type { CallGuards, ItemRules } from '../guard/contract.ts';
import type { Target } from '../targets/contract.ts';
import { KnownNames } from './known-names.ts';
import { ListBudget, ListCache } from './list-cache.ts';
import { Naming } from './naming.ts';
import { CursorCodec } from './merge/cursor.ts';

/** What the gateway says of itself where it answers for several targets. */
export interface GatewayFacts {
  readonly name: string;
  readonly version: string;
}

export interface FederationOptions {
  readonly backend: Pick<McpBackend, 'prefixMode' | 'failureMode' | 'stateful'>;
  /** In the order of the configuration. */
  readonly targets: readonly Target[];
  readonly rules: ItemRules;
  /** Null where no processors look on. */
  readonly guards: CallGuards | null;
  readonly gateway: GatewayFacts;
  /** What makes cursors unforgeable: the same in every thread and replica. Null leaves them checked for form only. */
  readonly cursorKey: Uint8Array | null;
}

/** An MCP backend as its sessions see it; a new one with every configuration. */
export interface Plan {
  readonly targets: readonly Target[];
  readonly naming: Naming;
  readonly failOpen: boolean;
  readonly stateful: boolean;
  readonly rules: ItemRules;
  readonly guards: CallGuards | null;
  readonly gateway: GatewayFacts;
  readonly cursors: CursorCodec;
  readonly budget: ListBudget;
  /** For look-ups by name of clients without sessions. */
  readonly lookUps: ListCache;
  readonly known: KnownNames;
}

export function plan(options: FederationOptions): Plan {
  const budget = new ListBudget();
  const names = options.targets.map((target) => target.name);
  return {
    targets: options.targets,
    naming: new Naming(names, options.backend.prefixMode),
    failOpen: options.backend.failureMode === 'failOpen',
    stateful: options.backend.stateful,
    rules: options.rules,
    guards: options.guards,
    gateway: options.gateway,
    budget,
    lookUps: new ListCache(budget),
    known: new KnownNames(),
    cursors: new CursorCodec(names, options.cursorKey),
  };
}
