import type {
  AiBackend,
  AiProvider,
  BackendAuth,
  BackendPolicies,
  BackendTls,
  HostTarget,
} from '../../src/config/ir/index.ts';
import { GwError } from '../../src/shared/errors.ts';
import { type Bound, chooseBound, hash64 } from '../backends/affinity.ts';
import { type Bucket, choose, compileBuckets, isEvicted, type BalanceDeps } from '../backends/balance.ts';
import type { BackendTable } from '../backends/resolve.ts';
import type { ResolvedBackend } from '../backends/resolved.ts';
import { noHealthyBackends } from '../backends/refusal.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Refusal } from '../exchange/refusal.ts';
import { LlmCall, type LlmCallOptions } from '../llm/call.ts';
import type { ReadRequest } from '../llm/models/requested.ts';
import type { ProviderRequest } from '../llm/providers/contract.ts';
import { compileService, type LlmService } from '../llm/service.ts';
import type { PolicyContext } from '../policy/contract.ts';
import type { Effective } from '../policy/effective.ts';
import type { BackendProgram } from './program.ts';

/** One service of a backend of language models, as calls through one route see it. */
export interface LlmMember extends Bound {
  readonly service: LlmService;
  readonly program: BackendProgram;
  /** Where a request goes; services have several hosts. */
  resolved(request: ProviderRequest): ResolvedBackend;
}

/** How a member is compiled, which the engine knows. */
export interface MemberCompiler {
  effective(provider: AiProvider): Effective<BackendPolicies>;
  context(effective: Effective<BackendPolicies>): PolicyContext;
  program(effective: Effective<BackendPolicies>, resolved: ResolvedBackend): BackendProgram;
  readonly backends: BackendTable;
  readonly balance: Omit<BalanceDeps<LlmMember>, 'nowMs' | 'viable'> & { readonly now: () => number };
}

/** Services that stand in for each other: groups in order of preference, the better of two draws inside a group. */
export class LlmBackend {
  readonly members: readonly LlmMember[];
  readonly services: readonly LlmService[];
  readonly #buckets: readonly Bucket<LlmMember>[];
  readonly #balance: MemberCompiler['balance'];

  /** Throws a `GwError` for what cannot be compiled. */
  constructor(backend: AiBackend, compiler: MemberCompiler) {
    const groups = backend.groups.map((group) => group.map((provider) => compileMember(provider, compiler)));
    this.members = groups.flat();
    this.services = this.members.map(({ service }) => service);
    this.#buckets = compileBuckets(groups);
    this.#balance = compiler.balance;
  }

  /** Begins a call; which member serves it is chosen for each attempt. */
  begin(exchange: Exchange, options: LlmCallOptions, read: ReadRequest | null): LlmCall {
    return new LlmCall(exchange, options, read);
  }

  choose(affinity: string | undefined): LlmMember | Refusal {
    const { view, random, now } = this.#balance;
    const deps: BalanceDeps<LlmMember> = { view, random, nowMs: view.someEvicted() ? now() : 0, viable: null };
    const chosen =
      affinity === undefined
        ? choose(this.#buckets, deps)
        : chooseBound(this.#buckets, affinity, { viable: null, isEvicted: (member) => isEvicted(member, deps) });
    return chosen ?? noHealthyBackends;
  }
}

function compileMember(provider: AiProvider, compiler: MemberCompiler): LlmMember {
  const own = compiler.effective(provider);
  const service = compileService({ ...provider, policies: own.values }, own.values.ai ?? {}, compiler.context(own));
  const effective = withDefaultAuth(own, service.provider.defaultAuth);
  const ways = new Map(
    hostsOf(provider, service).map((host) => [host.name, resolve(provider, host, { effective, compiler })]),
  );
  const [first] = ways.values();
  if (first === undefined)
    throw new GwError(`the provider ${provider.name} has no host of its own: hostOverride or baseUrl is missing`, {
      code: 'GW_POLICY_INVALID',
    });
  const { resolved } = first;
  const program = compiler.program(effective, resolved);
  return {
    service,
    program,
    endpoint: first.endpoint,
    capacity: 1,
    hash: hash64(provider.name),
    resolved: (request) => ways.get(service.provider.hostOf(request) ?? '')?.resolved ?? resolved,
  };
}

/** The provider's usual credentials where there are none, and its region where they have none. */
function withDefaultAuth(own: Effective<BackendPolicies>, usual: BackendAuth | undefined): Effective<BackendPolicies> {
  const { backendAuth } = own.values;
  if (usual === undefined) return own;
  if (backendAuth === undefined)
    return { values: { ...own.values, backendAuth: usual }, sources: { ...own.sources, backendAuth: 'the provider' } };
  const { main } = backendAuth;
  if (main?.kind !== 'aws' || main.region !== undefined || usual.main?.kind !== 'aws') return own;
  const { region } = usual.main;
  return { ...own, values: { ...own.values, backendAuth: { ...backendAuth, main: { ...main, region } } } };
}

interface Host {
  readonly name: string;
  readonly target: HostTarget;
  /** The service's own, which is reached over TLS unless something else is said. */
  readonly own: boolean;
}

function hostsOf({ host }: AiProvider, { provider }: LlmService): readonly Host[] {
  if (host !== undefined) return [{ name: '', target: host, own: false }];
  return provider.hosts.map((name) => ({ name, target: { kind: 'tcp', host: name, port: 443 }, own: true }));
}

const SYSTEM_ROOTS: BackendTls = { verify: 'full' };

function resolve(
  provider: AiProvider,
  { target, own }: Host,
  { effective, compiler }: { readonly effective: Effective<BackendPolicies>; readonly compiler: MemberCompiler },
) {
  const { values } = effective;
  const policies = own && values.backendTLS === undefined ? { ...values, backendTLS: SYSTEM_ROOTS } : values;
  return {
    resolved: compiler.backends.member(provider.key, target, policies),
    endpoint: compiler.backends.memberEndpoint(provider.key, policies),
  };
}
