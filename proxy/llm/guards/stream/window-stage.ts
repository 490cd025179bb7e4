import type { Check, Stage, StreamWatch } from '../contract.ts';
import { Blocked } from '../contract.ts';
import { type Answer, askAboutText, type GuardService } from '../services/contract.ts';
import { messageOf } from '../../../../src/shared/errors.ts';

/** New text that is worth a call, bytes. */
const NEW_BYTES = 1024;
/** Text that is judged again with what follows it, bytes. */
const OVERLAP_BYTES = 256;

/** What clients are told when a guard cannot be asked and nothing may pass without it. */
const BLOCKED = 'Content blocked by guardrail policy';
const UNAVAILABLE = 503;

export interface WindowOptions {
  readonly check: Check;
  readonly service: GuardService;
  readonly watch: StreamWatch;
}

/**
 * Asks a service about a text in windows. What passes leaves but for its last bytes, which are judged again together with
 * what follows: a text that becomes forbidden only then has not left.
 */
export class WindowStage implements Stage {
  readonly #options: WindowOptions;
  /** What has not left: judged already, but for the last `#newBytes`. */
  #held = '';
  #newBytes = 0;
  /** Of an audit, which holds nothing back: the last question that was asked. */
  #asked: Promise<unknown> = Promise.resolve();

  constructor(options: WindowOptions) {
    this.#options = options;
  }

  push(piece: string, final: boolean): string | Promise<string> {
    this.#held += piece;
    this.#newBytes += Buffer.byteLength(piece);
    const worth = this.#newBytes >= NEW_BYTES || (final && this.#newBytes > 0);
    if (this.#options.check.audit) {
      if (worth) this.#audit();
      return piece;
    }
    if (worth) return this.#judge(final);
    return final ? this.#release('') : '';
  }

  async #judge(final: boolean): Promise<string> {
    const judged = await this.#verdict(this.#held);
    this.#held = judged;
    this.#newBytes = 0;
    return this.#release(final ? '' : tailOf(judged, OVERLAP_BYTES));
  }

  /** Everything but `kept`, which ends it. */
  #release(kept: string): string {
    const released = this.#held.slice(0, this.#held.length - kept.length);
    this.#held = kept;
    return released;
  }

  /** One question after the other, and nobody waits for the answers. */
  #audit(): void {
    const text = this.#held;
    this.#held = tailOf(text, OVERLAP_BYTES);
    this.#newBytes = 0;
    this.#asked = this.#asked.then(() => this.#verdict(text)).catch(() => undefined);
  }

  /** The text as it may leave. */
  async #verdict(text: string): Promise<string> {
    const { check, service, watch } = this.#options;
    const { exchange, headers, signal } = watch;
    let answer: Answer;
    try {
      answer = await askAboutText(service, text, { exchange, headers, signal });
    } catch (error) {
      return this.#failed(error, text);
    }
    if (answer.kind === 'pass') {
      watch.report('Allow', '');
      return text;
    }
    if (answer.kind === 'reject') {
      watch.report('Reject', answer.what);
      throw new Blocked(answer.body ?? check.rejection.body, answer.status ?? check.rejection.status);
    }
    watch.report('Mask', answer.what);
    return (answer.kind === 'texts' ? answer.texts[0] : answer.messages[0]?.content) ?? text;
  }

  #failed(error: unknown, text: string): string {
    const { check, watch } = this.#options;
    if (watch.signal.aborted) return text;
    if (!check.failOpenOnStreams) {
      watch.report('Reject', `no verdict: ${messageOf(error)}`);
      throw new Blocked(BLOCKED, UNAVAILABLE);
    }
    watch.report('FailOpen', messageOf(error));
    return text;
  }
}

/** The end of a text, at least that many bytes; characters stay whole. */
function tailOf(text: string, bytes: number): string {
  let at = text.length;
  let size = 0;
  while (at > 0 && size < bytes) {
    at--;
    const unit = text.charCodeAt(at);
    const low = unit >= 0xdc00 && unit <= 0xdfff && at > 0;
    if (low && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) at--;
    size += low ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return text.slice(at);
}
