import type { HttpRoute, PathMatch } from '../../src/config/ir/index.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { CallSpans } from '../telemetry/spans/request-span.ts';
import { Attributes } from './attributes.ts';
import type { ConnectionFacts } from './connection.ts';
import type { LentCredentials } from './lent-credentials.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import type { Progress } from './progress.ts';
import { QueuedHeaders } from './queued-headers.ts';
import type { Transport } from './transport.ts';

/**
 * One request and its response as the pipeline sees them, whatever the transport. Policies change `request` in place.
 */
export class Exchange {
  readonly request: HttpRequest;
  readonly connection: ConnectionFacts;
  readonly transport: Transport;
  /** `performance.now()` at the arrival of the head, milliseconds. */
  readonly startedAt: number;
  /** Null while nobody watches: reporting costs this one comparison. */
  readonly trace: Recorder | null;
  /** The client's request line before any policy changed it, for the log. */
  readonly clientMethod: string;
  readonly clientAuthority: string;
  readonly clientTarget: string;
  /** Spans for calls made on this request's behalf; null unless spans of this request may be exported. */
  spans: CallSpans | null = null;
  /** What policies have found out: verified credentials, metadata. */
  readonly attributes = new Attributes();
  /** Where the request stands; null for an exchange without an engine. */
  progress: Progress | null = null;
  /** Credentials of the gateway that the request carries at the moment. */
  lent: LentCredentials | null = null;
  /** The response that response policies see and change; null before there is one. */
  response: HttpResponse | null = null;
  /** The response came from a backend: the gateway did not make it. */
  answeredByUpstream = false;
  /** A policy has computed the authority that the upstream gets: it is not rewritten to the backend's name. */
  authorityDecided = false;
  /** The last route of the chain that routing chose; null before. */
  route: HttpRoute | null = null;
  /** The path match of that route; what prefix rewrites and redirects replace. */
  matchedPath: PathMatch | null = null;
  /** `performance.now()` at which the response head is due; null is no limit. */
  deadlineAt: number | null = null;
  /** The client went away before its response was complete. */
  clientGone = false;
  /** A few at most. */
  #goneListeners: (() => void)[] | null = null;
  #endListeners: (() => void)[] | null = null;
  #queued: QueuedHeaders | null = null;
  #memory: Map<object, unknown> | null = null;

  constructor(request: HttpRequest, connection: ConnectionFacts, transport: Transport, trace: Recorder | null) {
    this.request = request;
    this.connection = connection;
    this.transport = transport;
    this.startedAt = performance.now();
    this.trace = trace;
    this.clientMethod = request.method;
    this.clientAuthority = request.authority;
    this.clientTarget = request.target;
  }

  /**
   * A request that the gateway makes on behalf of this one: policies see it with what is known of its client. It has no
   * response of its own, and ends as its maker says.
   */
  onBehalf(request: HttpRequest, trace: Recorder | null): Exchange {
    const made = new Exchange(request, this.connection, this.transport, trace);
    Object.assign(made.attributes, this.attributes);
    made.progress = this.progress;
    made.route = this.route;
    made.spans = this.spans;
    made.clientGone = this.clientGone;
    return made;
  }

  /** Headers for whatever response there will be; made on first use. */
  get queued(): QueuedHeaders {
    return (this.#queued ??= new QueuedHeaders());
  }

  /** Adds the queued headers to the response that leaves. */
  mergeQueued(response: HttpResponse): void {
    this.#queued?.mergeInto(response.headers);
  }

  /** Keeps what the request side of a policy leaves for its response side; `key` is an object of its own (its settings). */
  remember(key: object, value: unknown): void {
    (this.#memory ??= new Map()).set(key, value);
  }

  recall(key: object): unknown {
    return this.#memory?.get(key);
  }

  /** Calls `listener` once when the client goes away, at once if it already has; returns what takes it off again. */
  onClientGone(listener: () => void): () => void {
    if (this.clientGone) {
      listener();
      return () => {};
    }
    if (this.#goneListeners === null) this.#goneListeners = [listener];
    else this.#goneListeners.push(listener);
    return () => this.#forget(listener);
  }

  /**
   * Calls `listener` when the exchange is over, however it ended, or its connection has become a tunnel: nothing that it
   * opened may stay open.
   */
  onEnd(listener: () => void): void {
    (this.#endListeners ??= []).push(listener);
  }

  /** Called by the owner of the exchange when its response has ended or its tunnel begins; later calls do nothing. */
  ended(): void {
    const listeners = this.#endListeners;
    this.#endListeners = null;
    if (listeners !== null) for (const listener of listeners) listener();
  }

  /** Called by the owner of the exchange when the transport reports that the client left. */
  clientLeft(): void {
    this.clientGone = true;
    const listeners = this.#goneListeners;
    this.#goneListeners = null;
    if (listeners !== null) for (const listener of listeners) listener();
  }

  #forget(listener: () => void): void {
    const at = this.#goneListeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#goneListeners?.splice(at, 1);
  }
}

/** What a listener calls for each request. Never throws, and always ends in one `transport.respond` or `takeOver`. */
export type RequestHandler = (request: HttpRequest, connection: ConnectionFacts, transport: Transport) => void;
