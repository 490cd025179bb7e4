import type { RpcMessage, RpcNotification } from '../../message/message.ts';
import { metaOf, withMeta } from '../../message/meta.ts';
import type { CallSink, Calling, TargetFailure } from '../contract.ts';
import { dropped } from './rejection.ts';
import { SUBSCRIPTION_META } from './words.ts';

const unsupported: TargetFailure = { kind: 'unsupported', message: 'the target has nothing to say unasked' };
/** What servers without subscriptions say to one. */
const NONE: ReadonlySet<number> = new Set([400, 404, 405]);

/** The stream of a legacy client, fed by a subscription that is made anew when it wants other resources. */
export class ModernListener implements Calling {
  readonly #sink: CallSink;
  readonly #open: (relay: CallSink) => Calling;
  readonly #onOver: () => void;
  #current: { calling: Calling | null } | null = null;
  #paused = false;
  #over = false;
  #heard = false;

  constructor(sink: CallSink, open: (relay: CallSink) => Calling, onOver: () => void) {
    this.#sink = sink;
    this.#open = open;
    this.#onOver = onOver;
  }

  open(): void {
    const before = this.#current;
    const current: { calling: Calling | null } = { calling: null };
    this.#current = current;
    current.calling = this.#open({
      onMessage: (message) => {
        if (!this.#over && this.#current === current) this.#take(message);
      },
      onEnd: (failure) => {
        if (!this.#over && this.#current === current) this.#end(failure);
      },
    });
    if (this.#paused) current.calling.pause();
    before?.calling?.cancel();
  }

  cancel(): void {
    if (this.#over) return;
    this.#finish();
    this.#current?.calling?.cancel();
  }

  pause(): void {
    this.#paused = true;
    this.#current?.calling?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#current?.calling?.resume();
  }

  #take(message: RpcMessage): void {
    if (message.kind === 'error') this.#end(unsupported);
    // Who ends it at once has nothing to tell.
    else if (message.kind === 'result') this.#end(this.#heard ? null : unsupported);
    else if (message.kind === 'notification' && message.method !== 'notifications/subscriptions/acknowledged') {
      this.#heard = true;
      this.#sink.onMessage(unsubscribed(message));
    }
  }

  #end(failure: TargetFailure | null): void {
    this.#finish();
    if (failure?.kind === 'http' && NONE.has(failure.status)) {
      dropped(failure);
      this.#sink.onEnd(unsupported);
    } else this.#sink.onEnd(failure);
  }

  #finish(): void {
    this.#over = true;
    this.#onOver();
  }
}

function unsubscribed(message: RpcNotification): RpcNotification {
  if (metaOf(message.params)?.[SUBSCRIPTION_META] === undefined) return message;
  return { ...message, params: withMeta(message.params, { [SUBSCRIPTION_META]: undefined }) };
}
