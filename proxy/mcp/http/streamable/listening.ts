import type { HttpResponse } from '../../../exchange/message.ts';
import type { Refusal } from '../../../exchange/refusal.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { RpcMessage } from '../../message/message.ts';
import type { ClientCall, McpSession } from '../../session/contract.ts';
import type { Calling, CallSink, TargetFailure } from '../../targets/contract.ts';
import { EventStream } from '../event-stream.ts';
import type { McpHttpOptions } from '../options.ts';
import { discard, failureAnswer, methodNotAllowed } from '../refusals.ts';

/**
 * How long targets may take to refuse a stream. A stream on which nothing is said looks like one that is being opened: after
 * this time the client gets its head, and what is refused later shows as silence.
 */
const REFUSAL_MS = 1000;

/** The stream of what targets say without being asked. */
export function listening(
  session: McpSession,
  call: ClientCall,
  { clock }: McpHttpOptions,
): Promise<HttpResponse | Refusal> {
  return new Promise((resolve) => new Listening({ session, call, clock, resolve }).begin());
}

interface Parts {
  readonly session: McpSession;
  readonly call: ClientCall;
  readonly clock: Clock;
  readonly resolve: (outcome: HttpResponse | Refusal) => void;
}

class Listening implements CallSink {
  readonly #parts: Parts;
  readonly #stream: EventStream;
  #unschedule: (() => void) | null = null;
  #opened = false;
  #over = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#stream = new EventStream(() => this.#close());
  }

  begin(): void {
    const { session, call, clock } = this.#parts;
    this.#unschedule = clock.schedule(() => this.onOpen(), REFUSAL_MS);
    const calling: Calling = session.listen(call, this);
    if (this.#over) return;
    this.#stream.feed(calling);
    call.exchange.onClientGone(() => this.#stream.abandon());
    call.exchange.onEnd(() => this.#stream.abandon());
  }

  onOpen(): void {
    if (this.#opened || this.#over) return;
    this.#opened = true;
    this.#unschedule?.();
    this.#parts.resolve(this.#stream.response());
  }

  onMessage(message: RpcMessage): void {
    if (this.#over) return;
    this.onOpen();
    this.#stream.message(message);
  }

  onEnd(failure: TargetFailure | null): void {
    if (this.#over) return;
    // A stream that is closed at once would be opened again at once, for ever.
    if (this.#opened && failure?.kind === 'unsupported') return;
    if (failure === null) this.onOpen();
    this.#over = true;
    this.#unschedule?.();
    if (this.#opened) {
      this.#stream.end();
      discard(failure);
    } else if (failure !== null) this.#parts.resolve(this.#refusal(failure));
  }

  #refusal(failure: TargetFailure): HttpResponse | Refusal {
    if (failure.kind === 'unsupported') return methodNotAllowed('POST, DELETE');
    return failureAnswer(failure, { id: null, era: 'legacy' });
  }

  /** The client has left; where it had no head yet, nobody reads what it is told. */
  #close(): void {
    this.#over = true;
    this.#unschedule?.();
    if (!this.#opened) this.#parts.resolve(this.#stream.response());
  }
}
