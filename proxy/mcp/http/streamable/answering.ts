import { BufferedBody } from '../../../exchange/body.ts';
import type { HttpResponse } from '../../../exchange/message.ts';
import { Headers } from '../../../exchange/headers.ts';
import { Patience } from '../../../exchange/patience.ts';
import { clientLeft } from '../../../exchange/wait.ts';
import { REASON_HEADER, type Refusal } from '../../../exchange/refusal.ts';
import { rpcCodes } from '../../message/codes.ts';
import type { RpcAnswer, RpcMessage, RpcRequest } from '../../message/message.ts';
import { writeMessage } from '../../message/write.ts';
import type { ClientCall, McpSession } from '../../session/contract.ts';
import type { Calling, CallSink, TargetFailure } from '../../targets/contract.ts';
import { EventStream, eventHeaders, frameOf } from '../event-stream.ts';
import type { McpHttpOptions } from '../options.ts';
import { discard, failureAnswer, failureError, rpcRefusal, SESSION_HEADER, statusOf } from '../refusals.ts';

/** Messages before the answer to a handshake, which waits for it with its head. More are dropped: nothing is said there. */
const MOST_HELD = 16;

/** Asks, and answers as soon as something comes. */
export function answered(
  session: McpSession,
  request: RpcRequest,
  { call, options }: { readonly call: ClientCall; readonly options: McpHttpOptions },
): Promise<HttpResponse | Refusal> {
  return new Promise((resolve) => {
    const patience = new Patience(call.exchange, options.clock);
    new Answering({ session, request, call, patience, resolve }).begin();
  });
}

interface Parts {
  readonly session: McpSession;
  readonly request: RpcRequest;
  readonly call: ClientCall;
  readonly patience: Patience;
  readonly resolve: (outcome: HttpResponse | Refusal) => void;
}

/** One request on its way to its answer: nothing said yet, then a stream of events, then over. */
class Answering implements CallSink {
  readonly #parts: Parts;
  /** The id of the session is only known with the answer, and stands in the head. */
  readonly #holds: boolean;
  readonly #held: RpcMessage[] = [];
  #calling: Calling | null = null;
  #stream: EventStream | null = null;
  #over = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#holds = parts.request.method === 'initialize';
  }

  begin(): void {
    const { session, request, call, patience } = this.#parts;
    patience.onGivenUp(() => this.#giveUp());
    if (this.#over) return;
    const calling = session.request(request, call, this);
    this.#calling = calling;
    if (this.#over) return;
    this.#stream?.feed(calling);
  }

  onMessage(message: RpcMessage): void {
    if (this.#over) return;
    const answer = message.kind === 'result' || message.kind === 'error' ? message : null;
    if (this.#stream === null && answer !== null) this.#settle(this.#whole(answer));
    else if (this.#stream === null && this.#holds) {
      if (this.#held.length < MOST_HELD) this.#held.push(message);
    } else {
      this.#streaming().message(message);
      if (answer !== null) this.#endStream();
    }
  }

  onEnd(failure: TargetFailure | null): void {
    if (this.#over) return;
    const { request, call } = this.#parts;
    const { id } = request;
    if (this.#stream === null) {
      const why = failure ?? { kind: 'broken', message: failureError(null).message };
      this.#settle(failureAnswer(why, { id, era: call.era }));
      return;
    }
    this.#stream.message({ kind: 'error', id, error: failureError(failure) });
    this.#endStream();
    discard(failure);
  }

  /** An answer before which nothing was said: its length is known. */
  #whole(answer: RpcAnswer): HttpResponse {
    const { session, call } = this.#parts;
    const status = answer.kind === 'error' ? statusOf(answer.error.code, call.era) : 200;
    if (status !== 200) {
      const headers = Headers.from([['content-type', 'application/json']]);
      return { status, headers, body: new BufferedBody(Buffer.from(writeMessage(answer))) };
    }
    const headers = eventHeaders();
    const refusedBy = call.exchange.attributes.mcp?.refusedBy ?? null;
    if (refusedBy !== null) headers.append(REASON_HEADER, refusedBy);
    if (this.#holds && answer.kind === 'result' && session.id !== null) {
      headers.append(SESSION_HEADER, session.id);
      // A client that leaves before it has the id cannot end the session.
      call.exchange.onClientGone(() => void session.close(call));
    }
    const frames = this.#held.length === 0 ? frameOf(answer) : Buffer.concat([...this.#held, answer].map(frameOf));
    return { status, headers, body: new BufferedBody(frames) };
  }

  #streaming(): EventStream {
    if (this.#stream !== null) return this.#stream;
    const { call, patience, resolve } = this.#parts;
    const stream = new EventStream(() => (this.#over = true));
    this.#stream = stream;
    if (this.#calling !== null) stream.feed(this.#calling);
    call.exchange.onEnd(() => stream.abandon());
    patience.release();
    resolve(stream.response());
    return stream;
  }

  #endStream(): void {
    this.#over = true;
    this.#stream?.end();
  }

  #settle(outcome: HttpResponse | Refusal): void {
    this.#over = true;
    this.#parts.patience.release();
    this.#parts.resolve(outcome);
  }

  /** The client went away, or its time is up, before there was anything to say. */
  #giveUp(): void {
    if (this.#over) return;
    const { patience, request } = this.#parts;
    const { status, reason, message } = patience.refusal ?? clientLeft;
    this.#settle(rpcRefusal(status, request.id, { error: { code: rpcCodes.internal, message }, reason }));
    this.#calling?.cancel();
  }
}
