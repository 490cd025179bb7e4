import type { Body } from '../../exchange/body.ts';
import type { LlmFacts } from '../../exchange/llm-facts.ts';
import { PushBody } from '../../exchange/push-body.ts';
import { AwsEventStreamDecoder, exceptionFrame } from '../stream/aws-event-stream.ts';
import { type IdleLimit, IdleWatch } from '../stream/idle-watch.ts';

export interface ClosedFramesOptions extends IdleLimit {
  readonly facts: LlmFacts;
  readonly limitBytes: number;
}

/**
 * A stream of Bedrock as it is, but for its end: one that breaks off between two frames, falls silent, or is over before it
 * has said why it stops, ends with an exception that its client throws. Behind half a frame nothing could be read: that
 * stays a cut.
 */
export function closedFrames(source: Body, options: ClosedFramesOptions): Body {
  const out = new PushBody();
  const frames = new Frames(options.limitBytes);
  const idle = new IdleWatch(options, (error) => {
    source.cancel();
    cut(error);
  });
  function cut(error: Error): void {
    idle.stop();
    if (!frames.aligned) {
      out.fail(error);
      return;
    }
    if (frames.state !== 'stopped') tell(error);
    out.end();
  }
  function tell(error: Error): void {
    options.facts.cut = error;
    out.push(exceptionFrame('modelStreamErrorException', error.message));
  }
  out.onDrain = () => {
    idle.resume();
    source.resume();
  };
  out.onCancel = () => {
    idle.stop();
    source.cancel();
  };
  source.pipe({
    onData(chunk) {
      idle.moved();
      frames.push(chunk);
      out.push(chunk);
      if (!out.full) return;
      idle.pause();
      source.pause();
    },
    onEnd(trailers) {
      idle.stop();
      if (frames.aligned && frames.state === 'begun')
        tell(new Error('the upstream stream ended before the answer was complete'));
      out.end(trailers);
    },
    onError: cut,
  });
  return out;
}

/** How far a stream has come. Of streams that models have of their own, nobody knows the end: they never begin. */
class Frames {
  state: 'waiting' | 'begun' | 'stopped' = 'waiting';
  readonly #decoder: AwsEventStreamDecoder;
  #broken = false;

  constructor(limitBytes: number) {
    this.#decoder = new AwsEventStreamDecoder({ message: (headers) => this.#note(headers) }, limitBytes);
  }

  get aligned(): boolean {
    return !this.#broken && this.#decoder.aligned;
  }

  push(chunk: Uint8Array): void {
    if (this.#broken) return;
    try {
      this.#decoder.push(chunk);
    } catch {
      // It passes all the same, and is its client's to judge.
      this.#broken = true;
    }
  }

  #note(headers: ReadonlyMap<string, string>): void {
    const type = headers.get(':event-type');
    if (headers.get(':message-type') !== 'event' || type === 'messageStop') this.state = 'stopped';
    else if (type === 'messageStart') this.state = 'begun';
  }
}
