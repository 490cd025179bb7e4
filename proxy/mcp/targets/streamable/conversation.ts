import { Headers } from '../../../exchange/headers.ts';
import type { HttpResponse } from '../../../exchange/message.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { RpcMessage } from '../../message/message.ts';
import type { TargetCall, TargetFailure, TargetState } from '../contract.ts';
import { broken, discard, httpFailure, succeeded } from '../http-failures.ts';
import type { HttpAnswer, HttpCaller, HttpCalling } from '../http-caller.ts';
import { METHOD_HEADER, NAME_HEADER, setRoutingHeaders } from '../../message/routing-headers.ts';
import { eraOf } from '../../message/versions.ts';
import { writeMessage } from '../../message/write.ts';

export interface StreamableOptions {
  readonly name: string;
  /** Of the endpoint, with its query if it has one. */
  readonly path: string;
  readonly caller: HttpCaller;
  /** Of one message of the target. */
  readonly limitBytes: number;
  readonly clock: Clock;
}

/** Headers of the client's request that say something about its message, its session or its stream, and not about the target's. */
const own = [
  'accept',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  METHOD_HEADER,
  NAME_HEADER,
];

const VISIBLE = /^[\x21-\x7e]{1,4096}$/;

/** What the requests of one conversation share: where it goes and what the target has told. */
export class Conversation {
  readonly options: StreamableOptions;
  #session: string | undefined;
  #pinned: string | undefined;
  /** The last session that the target did not know. */
  #lost: string | undefined;

  constructor(options: StreamableOptions, state: TargetState | null) {
    this.options = options;
    this.#session = state?.session;
    this.#pinned = state?.pinned;
  }

  get state(): TargetState {
    return { session: this.#session, pinned: this.#pinned };
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** What is asked next begins anew; the endpoint may be another one. */
  forget(): void {
    this.#session = undefined;
    this.#pinned = undefined;
  }

  post(message: RpcMessage, call: TargetCall, lasting = false): HttpCalling {
    // Where the modern versions are spoken now, there was a session before the server was replaced.
    if (isModern(call)) this.#session = undefined;
    const headers = this.#headers(call, message);
    headers.set('accept', 'application/json, text/event-stream');
    headers.set('content-type', 'application/json');
    // A session that begins may do so elsewhere.
    const pinned = isInitialize(message) ? null : undefined;
    return this.#send('POST', headers, { body: Buffer.from(writeMessage(message)), call, lasting, pinned });
  }

  /** Opens a stream, or goes on with one behind an event. */
  get(call: TargetCall, lastEventId: string | null): HttpCalling {
    const headers = this.#headers(call, null);
    headers.set('accept', 'text/event-stream');
    if (lastEventId !== null) headers.set('last-event-id', lastEventId);
    return this.#send('GET', headers, { body: null, call, lasting: false });
  }

  delete(call: TargetCall | null): HttpCalling {
    return this.#send('DELETE', this.#headers(call, null), { body: null, call, lasting: true });
  }

  /** Takes what the head of an answer to anything but a handshake tells about the conversation. */
  heard(answer: HttpAnswer): void {
    this.#pinned ??= answer.pinned;
  }

  /** Takes what the head of the answer to a handshake tells. Null where the session id is none. */
  begun(answer: HttpAnswer, call: TargetCall): TargetFailure | null {
    if (!succeeded(answer.response)) return null;
    const session = answer.response.headers.get('mcp-session-id');
    if (session !== undefined && !VISIBLE.test(session))
      return broken('its session id has characters that no header may have');
    const before = this.#session;
    // A client may say `initialize` twice: the session that it had then is nobody's.
    if (before !== undefined && before !== this.#lost && before !== session) this.#end(this.delete(call));
    this.#session = session;
    this.#pinned = answer.pinned;
    return null;
  }

  /** The answer to a handshake that nobody waits for any more: what it has begun is ended. */
  unwanted(answer: HttpAnswer, call: TargetCall): void {
    const session = succeeded(answer.response) ? answer.response.headers.get('mcp-session-id') : undefined;
    discard(answer);
    if (session === undefined || !VISIBLE.test(session)) return;
    const other = new Conversation(this.options, { session, pinned: answer.pinned });
    this.#end(other.delete(call));
  }

  #end(told: HttpCalling): void {
    void told.outcome.then(discard);
  }

  /** What a status that is no success says. The body is for whoever gets the failure. */
  failureOf(response: HttpResponse, session: string | undefined): TargetFailure {
    if (response.status !== 404 || session === undefined) return httpFailure(response);
    response.body.cancel();
    this.#lost = session;
    return { kind: 'forgotten', message: 'the target knows the session no more' };
  }

  #headers(call: TargetCall | null, message: RpcMessage | null): Headers {
    const headers = call?.headers.clone() ?? new Headers();
    for (const name of own) headers.remove(name);
    const initialize = isInitialize(message);
    const version = call?.version ?? null;
    if (version !== null && !initialize) headers.set('mcp-protocol-version', version);
    if (this.#session !== undefined && !initialize) headers.set('mcp-session-id', this.#session);
    if (isModern(call) && message !== null) setRoutingHeaders(headers, message);
    return headers;
  }

  #send(method: 'GET' | 'POST' | 'DELETE', headers: Headers, rest: Sending): HttpCalling {
    const { body, call, lasting } = rest;
    const pinned = rest.pinned === null ? undefined : this.#pinned;
    const { caller, path } = this.options;
    return caller.send({ method, target: path, headers, body, lasting, pinned }, call);
  }
}

interface Sending {
  readonly body: Uint8Array | null;
  readonly call: TargetCall | null;
  readonly lasting: boolean;
  /** Null leaves the choice of the endpoint to the balancer. */
  readonly pinned?: null | undefined;
}

export function isInitialize(message: RpcMessage | null): boolean {
  return message?.kind === 'request' && message.method === 'initialize';
}

export function isModern(call: TargetCall | null): boolean {
  const version = call?.version ?? null;
  return version !== null && eraOf(version) === 'modern';
}
