import { rpcCodes } from '../../message/codes.ts';
import type { RpcFailure, RpcMessage, RpcRequest } from '../../message/message.ts';
import { versionIn } from '../../message/meta.ts';
import { eraOf, versionsOf } from '../../message/versions.ts';
import type { ClientCall, McpSessions } from '../../session/contract.ts';
import type { Calling, CallSink, TargetFailure } from '../../targets/contract.ts';
import { discard, failureError } from '../refusals.ts';
import type { SseStream } from './streams.ts';

export interface Said {
  readonly message: RpcMessage;
  readonly call: ClientCall;
  /** Of the newest configuration. */
  readonly sessions: McpSessions;
}

/**
 * Hands a message on; what comes for it goes to the stream, as the client has its answer already. False when the session
 * is gone.
 */
export async function dispatch(stream: SseStream, said: Said): Promise<boolean> {
  const { message, call } = said;
  const session = await stream.session(said.sessions, call);
  if (session === null || stream.events.over) return false;
  const requested = modernVersionOf(message);
  if (message.kind === 'request' && requested !== null) {
    stream.events.message({ kind: 'error', id: message.id, error: unsupported(requested) });
    return true;
  }
  // Neither notifications nor answers have an answer: there is no way to tell the client.
  if (message.kind !== 'request') session.post(message, call).then(discard, () => {});
  else {
    // A stream that hears nothing of targets still carries answers.
    const initialized = (): void => void listen(stream, said.sessions).catch(() => {});
    feed(stream, new Answer(stream, message, initialized), (sink) => session.request(message, call, sink));
  }
  return true;
}

/**
 * The version of a message that is newer than this transport; a handshake only proposes one. Clients of both generations
 * begin with such a message: told in time, they go on with an older version.
 */
export function modernVersionOf(message: RpcMessage): string | null {
  if (message.kind !== 'request' || message.method === 'initialize') return null;
  const version = versionIn(message.method, message.params);
  return version === null || eraOf(version) === 'legacy' ? null : version;
}

function unsupported(requested: string): RpcFailure {
  const data = { supported: versionsOf('legacy'), requested };
  return { code: rpcCodes.unsupportedVersion, message: 'Unsupported protocol version', data };
}

/** From now on, what targets say without being asked goes to the stream as well. */
async function listen(stream: SseStream, sessions: McpSessions): Promise<void> {
  const session = await stream.session(sessions, stream.opening);
  if (session !== null) feed(stream, new Unasked(stream), (sink) => session.listen(stream.opening, sink));
}

function feed(stream: SseStream, sink: Feed, begin: (sink: CallSink) => Calling): void {
  const calling = begin(sink);
  sink.calling = calling;
  if (!sink.over) stream.events.feed(calling);
}

interface Feed extends CallSink {
  calling: Calling | null;
  readonly over: boolean;
}

class Answer implements Feed {
  calling: Calling | null = null;
  over = false;
  readonly #stream: SseStream;
  readonly #request: RpcRequest;
  readonly #initialized: () => void;

  constructor(stream: SseStream, request: RpcRequest, initialized: () => void) {
    this.#initialized = initialized;
    this.#stream = stream;
    this.#request = request;
    stream.began();
  }

  onMessage(message: RpcMessage): void {
    if (this.over) return;
    this.#stream.events.message(message);
    if (message.kind !== 'result' && message.kind !== 'error') return;
    if (message.kind === 'result' && this.#request.method === 'initialize') this.#initialized();
    this.#end();
  }

  onEnd(failure: TargetFailure | null): void {
    if (this.over) return;
    this.#stream.events.message({ kind: 'error', id: this.#request.id, error: failureError(failure) });
    this.#end();
    discard(failure);
  }

  #end(): void {
    this.over = true;
    if (this.calling !== null) this.#stream.events.fed(this.calling);
    this.#stream.finished();
  }
}

class Unasked implements Feed {
  calling: Calling | null = null;
  over = false;
  readonly #stream: SseStream;

  constructor(stream: SseStream) {
    this.#stream = stream;
  }

  onMessage(message: RpcMessage): void {
    if (!this.over) this.#stream.events.message(message);
  }

  /** The stream goes on for answers: a client that lost it would have lost its session. */
  onEnd(failure: TargetFailure | null): void {
    this.over = true;
    if (this.calling !== null) this.#stream.events.fed(this.calling);
    discard(failure);
  }
}
