import type { Log } from '../../../../src/shared/log.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { KnownLines } from './known-lines.ts';
import { LineReader } from './line-reader.ts';

/** What of one line is logged, bytes. */
const SHOWN_BYTES = 2048;
const LINES_PER_SECOND = 100;

/** Writes what a program says beside the protocol to the log: bounded in length, and in lines for each second. */
export class ProgramLog {
  readonly #target: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #known: KnownLines | null;
  /** Begins again in the middle of lines that are longer than what is shown of them. */
  #reader: LineReader;
  #skipping = false;
  #second = Number.NEGATIVE_INFINITY;
  #lines = 0;
  /** Since the beginning. */
  #told = 0;

  /** `known` is what other programs of the target have said before. */
  constructor(target: string, log: Log, clock: Clock, known: KnownLines | null = null) {
    this.#known = known;
    this.#target = target;
    this.#log = log;
    this.#clock = clock;
    this.#reader = this.#newReader();
  }

  /** Bytes of standard error. */
  stderr(chunk: Buffer): void {
    let rest = chunk;
    if (this.#skipping) {
      const end = rest.indexOf(0x0a);
      if (end === -1) return;
      this.#skipping = false;
      rest = rest.subarray(end + 1);
    }
    for (let from = 0; from < rest.length;) {
      const at = rest.indexOf(0x0a, from);
      const to = at === -1 ? rest.length : at + 1;
      this.#part(rest.subarray(from, to), at !== -1);
      from = to;
    }
  }

  end(): void {
    if (!this.#skipping) this.#reader.end();
  }

  /** A line of standard output that is no message. */
  garbage(line: Buffer, why: string): void {
    if (this.#mayTell())
      this.#log.warn('a program wrote something that is no message', {
        target: this.#target,
        error: why,
        line: shown(line),
      });
  }

  failed(reason: string): void {
    if (this.#mayTell()) this.#log.warn(reason, { target: this.#target });
  }

  note(message: string, fields: Record<string, string | number> = {}): void {
    this.#log.debug(message, { target: this.#target, ...fields });
  }

  #part(part: Buffer, whole: boolean): void {
    if (this.#reader.take(part)) return;
    // The line is longer than anybody wants to read: its beginning is told, the rest is not looked at.
    this.#tell(part);
    this.#reader = this.#newReader();
    this.#skipping = !whole;
  }

  #newReader(): LineReader {
    return new LineReader(SHOWN_BYTES, (line) => this.#tell(line));
  }

  #tell(line: Buffer): void {
    if (!this.#log.enabled('info')) return;
    const text = shown(line);
    const nth = this.#told;
    this.#told += 1;
    const level = this.#known?.repeats(text, nth) === true ? 'debug' : 'info';
    if (this.#log.enabled(level) && this.#mayTell()) this.#log[level](text, { target: this.#target });
  }

  #mayTell(): boolean {
    const second = Math.floor(this.#clock.now() / 1000);
    if (second !== this.#second) {
      const left = this.#lines - LINES_PER_SECOND;
      if (left > 0) this.#log.warn('lines of a program were left out', { target: this.#target, lines: left });
      this.#second = second;
      this.#lines = 0;
    }
    this.#lines += 1;
    return this.#lines <= LINES_PER_SECOND;
  }
}

function shown(line: Buffer): string {
  const text = line.subarray(0, SHOWN_BYTES).toString('utf8').trimEnd();
  return line.length > SHOWN_BYTES ? `${text}…` : text;
}
