import type {
  BackendPolicies,
  McpBackend as McpBackendSpec,
  McpServer,
  McpSessions as SessionSettings,
  McpTarget,
  OpenApiSource,
  RemoteOpenApi,
} from '../../src/config/ir/index.ts';
import type { BackendTable } from '../backends/resolve.ts';
import type { ResolvedBackend } from '../backends/resolved.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import { DrySessions } from '../mcp/dry/dry-sessions.ts';
import { Federation } from '../mcp/federation/federation.ts';
import type { GatewayFacts } from '../mcp/federation/plan.ts';
import { compileCallGuards } from '../mcp/guard/guards.ts';
import { compileItemRules } from '../mcp/guard/rules.ts';
import type { McpHttpOptions } from '../mcp/http/options.ts';
import { rpcEnvelopeFor } from '../mcp/http/refusals.ts';
import { serveMcp } from '../mcp/http/serve.ts';
import { streamRelay } from '../mcp/http/sse/relay.ts';
import { SseStreams } from '../mcp/http/sse/streams.ts';
import { isForTargetItself, passedThrough } from '../mcp/http/well-known.ts';
import { SessionIds, type SessionOwner } from '../mcp/session/id.ts';
import { counted } from '../mcp/records/counted.ts';
import type { McpRecords } from '../mcp/records/records.ts';
import type { TargetRecord } from '../mcp/records/target-record.ts';
import type { McpSessions } from '../mcp/session/contract.ts';
import { BackendSessions, type KeptConversation } from '../mcp/session/sessions.ts';
import { type ThreadPeers, ThreadRelay } from '../mcp/session/relay/thread-relay.ts';
import { SessionStore } from '../mcp/session/store.ts';
import type { Target } from '../mcp/targets/contract.ts';
import type { HttpCaller } from '../mcp/targets/http-caller.ts';
import { named } from '../mcp/targets/named-failures.ts';
import { negotiating } from '../mcp/targets/negotiate/target.ts';
import { openApiTarget } from '../mcp/targets/openapi/connection.ts';
import { compileDocument } from '../mcp/targets/openapi/document.ts';
import { KeptDocument, type LiveDocument, type Proposal } from '../mcp/targets/openapi/live-document.ts';
import type { CompiledDocument } from '../mcp/targets/openapi/plan.ts';
import { sseTarget } from '../mcp/targets/sse/target.ts';
import { Programs } from '../mcp/targets/stdio/programs.ts';
import { Spare } from '../mcp/targets/stdio/spare.ts';
import { stdioTarget } from '../mcp/targets/stdio/target.ts';
import { streamableTarget } from '../mcp/targets/streamable/target.ts';
import { traced } from '../mcp/trace/traced-target.ts';
import type { JsonObject } from '../../src/shared/json.ts';
import type { Logger } from '../../src/shared/log.ts';
import type { PolicyContext, PolicyDeps } from '../policy/contract.ts';
import { definitionKey } from '../policy/definition-key.ts';
import type { Effective } from '../policy/effective.ts';
import type { BackendProgram } from './program.ts';
import type { Envelope } from './refusal-response.ts';
import { TargetCaller, type TargetCallerDeps } from './target-caller.ts';

/** What MCP backends need of the data thread that they are in. */
export interface McpThread extends TargetCallerDeps {
  readonly owner: SessionOwner;
  readonly gateway: GatewayFacts;
  readonly peers: ThreadPeers;
  /** What the thread has seen of targets and sessions. */
  readonly records: McpRecords;
  /** Of the gateway's process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How a backend is compiled, which the engine knows. */
export interface McpCompiler {
  /** Of the backend as the route uses it. */
  readonly own: Effective<BackendPolicies>;
  effective(target: McpTarget): Effective<BackendPolicies>;
  program(effective: Effective<BackendPolicies>, resolved: ResolvedBackend): BackendProgram;
  readonly backends: BackendTable;
  readonly deps: PolicyDeps;
  readonly sessions: SessionSettings;
  readonly thread: McpThread;
}

/** More sessions than this in one data thread, and the one that nobody has used for the longest time goes. */
const MAX_SESSIONS = 100_000;
const SSE_OPEN_MS = 10_000;

/** Several MCP servers that look like one, as a route reaches them. */
export class McpBackend {
  readonly #sessions: McpSessions;
  /** Of an explanation. */
  readonly #dry: DrySessions | null;
  readonly #options: McpHttpOptions;
  readonly #backend: McpBackendSpec;
  /** To the targets that are reached over HTTP. */
  readonly #callers: HttpCaller[] = [];

  /** Throws a `GwError` for what cannot be compiled. */
  constructor(backend: McpBackendSpec, compiler: McpCompiler) {
    const { deps, own, sessions, thread } = compiler;
    this.#backend = backend;
    const dry = deps.dryRun !== undefined;
    const context: PolicyContext = { phase: 'backend', source: own.sources.mcpAuthorization ?? backend.key, deps };
    const federation = new Federation({
      backend,
      targets: backend.targets.map((target) =>
        dry ? uncalled(target) : compileTarget(target, { backend, compiler, callers: this.#callers }),
      ),
      rules: compileItemRules(own.values.mcpAuthorization, context),
      guards: compileCallGuards(own.values.mcpGuardrails, { ...context, source: own.sources.mcpGuardrails ?? '' }),
      gateway: thread.gateway,
      cursorKey: sessions.key === undefined ? null : Buffer.from(sessions.key.reveal(), 'hex'),
    });
    const ids = new SessionIds({
      key: sessions.key,
      backend: backend.key,
      targets: backend.targets.map(({ name }) => name),
    });
    const kept = keptOf(backend, compiler);
    const relay = deps.stores.get('relay of mcp', () => new ThreadRelay(thread.owner, thread.peers));
    const { store, census } = kept;
    const live = new BackendSessions({ federation, ids, store, relay, backend: kept.key, census });
    this.#dry = dry ? new DrySessions({ targets: backend.targets, federation, ids }) : null;
    this.#sessions = this.#dry ?? live;
    this.#options = {
      limitBytes: deps.maxBufferSize,
      clock: deps.clock,
      dnsRebindingProtection: backend.dnsRebindingProtection,
      streams: kept.streams,
      relay: streamRelay(relay, { backend: kept.key, streams: kept.streams, sessions: live }),
    };
  }

  serve(exchange: Exchange): Promise<HttpResponse | Refusal> {
    // Where the gateway does the login, its own step has answered before.
    if (!isForTargetItself(exchange, this.#backend)) return serveMcp(exchange, this.#sessions, this.#options);
    if (this.#dry !== null) return this.#dry.passedThrough(exchange);
    const [caller] = this.#callers;
    return caller === undefined ? serveMcp(exchange, this.#sessions, this.#options) : passedThrough(exchange, caller);
  }

  envelopeFor(refusal: Refusal): Envelope | null {
    return rpcEnvelopeFor(refusal);
  }
}

/** What outlives a reload that leaves the backend as it is. */
function keptOf(backend: McpBackendSpec, compiler: McpCompiler) {
  const { deps, sessions, thread } = compiler;
  const place = { phase: 'backend', source: backend.key, deps } as const;
  // Conversations go on as they were begun: what their connections are like belongs to what they are.
  const connections = backend.targets.map((target) => connectionSpec(target, compiler));
  const targets = backend.targets.map(({ server, ...target }) => ({ ...target, server: lasting(server) }));
  const key = definitionKey('mcp', { backend: { ...backend, targets }, connections, ttlMs: sessions.ttlMs }, place);
  return {
    key,
    store: deps.stores.get(
      `${key}/sessions`,
      () => new SessionStore<KeptConversation>({ clock: deps.clock, ttlMs: sessions.ttlMs, max: MAX_SESSIONS }),
    ),
    streams: deps.stores.get(`${key}/streams`, () => new SseStreams()),
    census: thread.records.sessions(key, backend.key, deps.stores),
  };
}

interface Around {
  readonly backend: McpBackendSpec;
  readonly compiler: McpCompiler;
  /** Takes the callers that are made. */
  readonly callers: HttpCaller[];
}

/** Of an explanation: it has a name, and nobody connects to it. */
function uncalled({ name, server }: McpTarget): Target {
  return {
    name,
    transport: server.kind,
    connect: () => {
      throw new Error('nothing is called here');
    },
  };
}

function compileTarget(target: McpTarget, around: Around): Target {
  const { backend, compiler } = around;
  const { clock } = compiler.deps;
  const record = recordOf(target, compiler);
  const options = {
    identity: compiler.thread.gateway,
    answers: backend.stateful,
    clock,
    onMet: (version: string, told: JsonObject | null) => record.met(version, told),
    onResumed: (version: string) => record.resumed(version),
  };
  const plain = traced(plainTarget(target, around), compiler.deps.maxBufferSize);
  return named(counted(target.server.kind === 'openapi' ? plain : negotiating(plain, options), record));
}

/** Without what may change while conversations last. */
function lasting(server: McpServer): object {
  return server.kind === 'openapi' ? { ...server, schema: null } : server;
}

/** The same for the same definition, over reloads. */
function identityOf({ key, server }: McpTarget, deps: PolicyDeps): string {
  return definitionKey('mcp target', { key, server: lasting(server) }, { phase: 'backend', source: key, deps });
}

function recordOf(target: McpTarget, { deps, thread }: McpCompiler): TargetRecord {
  const { key, server } = target;
  const identity = identityOf(target, deps);
  const program = server.kind === 'stdio';
  // Programs tell how they end, with what they wrote.
  const log = program ? null : deps.log.scope('mcp');
  return thread.records.target(identity, { key, program, log }, deps.stores);
}

function plainTarget(target: McpTarget, { compiler, callers }: Around): Target {
  const { deps, thread } = compiler;
  const { name, server } = target;
  const { clock, log, maxBufferSize: limitBytes } = deps;
  if (server.kind === 'stdio') {
    const { environment } = thread;
    const programs = deps.stores.get('programs of mcp', () => new Programs({ clock, log: log.scope('mcp') }));
    const watch = recordOf(target, compiler);
    const spare = deps.stores.get(`${identityOf(target, deps)}/spare`, () => new Spare({ clock, watch }));
    return stdioTarget({ name, server, environment, programs, clock, log: log.scope('mcp'), watch, spare });
  }
  const caller = new TargetCaller(programOf(target, server, compiler), thread);
  callers.push(caller);
  const { path } = server;
  switch (server.kind) {
    case 'streamable':
      return streamableTarget({ name, path, caller, limitBytes, clock });
    case 'sse':
      return sseTarget({ name, path, caller, limitBytes, clock, openTimeoutMs: SSE_OPEN_MS });
    case 'openapi': {
      const document = documentOf(target, server.schema, compiler);
      return openApiTarget({ name, path, caller, document, maxAnswerBytes: limitBytes });
    }
  }
}

/** Operations that no tool could be made of: a few of many. */
function tellLeft(target: string, left: readonly string[], log: Logger): void {
  if (left.length === 0) return;
  const operations = left.slice(0, 10).join('; ');
  log.scope('mcp').warn('operations of an OpenAPI document are no tools', { target, count: left.length, operations });
}

/** Conversations go on over changes of the document: they have the tools that it says then. */
function documentOf(target: McpTarget, schema: OpenApiSource, compiler: McpCompiler): LiveDocument {
  const { deps } = compiler;
  const kept = deps.stores.get(`openapi document ${target.key}`, () => new KeptDocument());
  const compiled = (source: unknown): CompiledDocument => {
    const document = compileDocument(source);
    tellLeft(target.name, document.left, deps.log);
    recordOf(target, compiler).listed({ tools: document.tools }, false);
    return document;
  };
  kept.propose(schema.kind === 'inline' ? { document: compiled(schema.document) } : fetched(schema, compiled, deps));
  return kept;
}

function fetched(
  schema: RemoteOpenApi,
  compiled: (source: JsonObject) => CompiledDocument,
  { resources }: PolicyDeps,
): Proposal {
  const live = resources.openApi(schema);
  const { current, version } = live;
  return {
    document: current === null ? null : compiled(current),
    follow(change) {
      // Whoever has fetched it has made tools of it before it was handed on.
      const renew = (): void => void (live.current !== null && change(compiled(live.current)));
      if (live.version !== version) renew();
      return live.watch(renew);
    },
  };
}

function programOf(
  target: McpTarget,
  { at }: Exclude<McpServer, { readonly kind: 'stdio' }>,
  { backends, effective, program }: McpCompiler,
): BackendProgram {
  const own = connectionOf(target, effective(target));
  const resolved =
    at.kind === 'host'
      ? backends.member(target.key, at.target, own.values)
      : backends.resolve({ kind: 'reference', backend: at.backend }, own.values);
  return program(own, resolved);
}

/** All that says how a target is reached and asked. */
function connectionSpec(target: McpTarget, { backends, effective }: McpCompiler): object | null {
  const { server } = target;
  if (server.kind === 'stdio') return null;
  const at = server.at.kind === 'host' ? null : (backends.named(server.at.backend)?.backend ?? null);
  return { at, policies: connectionOf(target, effective(target)).values };
}

/** Of the policies of a backend, those of its connections: the others are met once for each request of a client. */
function connectionOf(
  { defaults }: McpTarget,
  { values, sources }: Effective<BackendPolicies>,
): Effective<BackendPolicies> {
  const { requestHeaderModifier, transformations, backendTLS, backendAuth, http, tcp, backendTunnel, health } = values;
  const known = { requestHeaderModifier, transformations, backendTLS, backendAuth, http, tcp, backendTunnel, health };
  const said = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return { values: { ...defaults, ...said }, sources };
}

/** And those that are met once. */
export function frontOf({ values, sources }: Effective<BackendPolicies>): Effective<BackendPolicies> {
  const { authorization, extAuthz, requestMirror, requestRedirect, responseHeaderModifier } = values;
  return { values: { authorization, extAuthz, requestMirror, requestRedirect, responseHeaderModifier }, sources };
}
