import { Lexer } from 'yaml';

/** An expansion that failed, with its place in the original text. */
export interface ExpandFailure {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly hint: string;
}

export interface Expanded {
  readonly text: string;
  readonly failures: readonly ExpandFailure[];
  /** Offset in the original text of an offset in the expanded one. */
  readonly original: (offset: number) => number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Most characters after expansion; a guard against variables that hold whole files many times over. */
const MAX_EXPANDED = 64 * 1024 * 1024;

/**
 * Replaces `$VAR`, `${VAR}`, `${VAR:-default}` and a `~/` at the start of a value by the environment, and `$$` by a dollar.
 * Comments stay as they are. A variable that is not defined and has no default is a failure.
 */
export function expandText(text: string, env: Environment): Expanded {
  if (!text.includes('$') && !text.includes('~/')) return { text, failures: [], original: (offset) => offset };
  const expansion = new Expansion(text, env);
  for (const piece of pieces(text)) expansion.piece(piece);
  return expansion.finish();
}

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly kind: 'comment' | 'scalar' | 'other';
}

const SCALAR_MARK = '\u001f';
const MARKS = new Set([SCALAR_MARK, '\u0002', '\u0018']);

/** The text as comments and the rest; a lexer token that is a value is a piece of its own, so that its start is known. */
function* pieces(text: string): Generator<Piece> {
  let at = 0;
  let scalar = false;
  for (const token of new Lexer().lex(text)) {
    if (MARKS.has(token) && text.slice(at, at + token.length) !== token) {
      scalar = token === SCALAR_MARK;
      continue;
    }
    const end = at + token.length;
    if (!scalar && token.startsWith('#')) yield { start: at, end, kind: 'comment' };
    else yield { start: at, end, kind: scalar || token.startsWith('"') || token.startsWith("'") ? 'scalar' : 'other' };
    scalar = false;
    at = end;
  }
  if (at < text.length) yield { start: at, end: text.length, kind: 'other' };
}

const ITSELF = 'write $$ for a dollar sign that stands for itself';

const NAME = /[A-Za-z0-9_]+/y;
const BRACED = /\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/y;

class Expansion {
  readonly #source: string;
  readonly #env: Environment;
  readonly #output: string[] = [];
  /** Where a run of the output begins, in both texts; `copied` runs keep their length. */
  readonly #runs: { readonly to: number; readonly from: number; readonly copied: boolean }[] = [];
  readonly #failures: ExpandFailure[] = [];
  #length = 0;
  /** A variable may reach over several pieces: everything before this was consumed. */
  #consumed = 0;

  constructor(source: string, env: Environment) {
    this.#source = source;
    this.#env = env;
  }

  piece({ start, end, kind }: Piece): void {
    let at = Math.max(start, this.#consumed);
    if (at >= end) return;
    if (kind === 'comment') return this.#copy(at, end);
    if (kind === 'scalar' && at === start) at = this.#home(at);
    while (at < end) {
      const dollar = this.#source.indexOf('$', at);
      const stop = dollar === -1 || dollar >= end ? end : dollar;
      this.#copy(at, stop);
      at = stop < end ? this.#variable(stop) : end;
    }
    this.#consumed = at;
  }

  finish(): Expanded {
    const text = this.#output.join('');
    const runs = this.#runs;
    return { text, failures: this.#failures, original: (offset) => originalOffset(runs, offset) };
  }

  #copy(from: number, to: number): void {
    if (to > from) this.#push(this.#source.slice(from, to), from, true);
  }

  #push(text: string, from: number, copied: boolean): void {
    this.#runs.push({ to: this.#length, from, copied });
    this.#length += text.length;
    if (this.#length <= MAX_EXPANDED) this.#output.push(text);
    else if (this.#failures.length === 0)
      this.#fail(from, from + 1, 'the text grows beyond 64 MiB here', 'look at the size of the variables');
  }

  /** Replaces `~/` at the start of a value, inside its quote if there is one. */
  #home(start: number): number {
    const quoted = this.#source[start] === '"' || this.#source[start] === "'";
    const at = quoted ? start + 1 : start;
    if (!this.#source.startsWith('~/', at)) return start;
    this.#copy(start, at);
    const home = this.#env['HOME'];
    if (home === undefined || home === '')
      this.#fail(at, at + 1, '`~` stands for HOME, which is not defined', 'define HOME, or write the path in full');
    else this.#push(home, at, false);
    return at + 1;
  }

  /** Replaces what begins with the dollar at `at`; returns the offset after it. */
  #variable(at: number): number {
    const next = this.#source[at + 1];
    if (next === '$') return this.#replace(at, at + 2, '$');
    if (next === '{') return this.#braced(at);
    NAME.lastIndex = at + 1;
    const name = NAME.exec(this.#source)?.[0];
    if (name === undefined) return this.#replace(at, at + 1, '$');
    return this.#replace(at, NAME.lastIndex, this.#lookUp(name, at, NAME.lastIndex));
  }

  #braced(at: number): number {
    BRACED.lastIndex = at + 1;
    const match = BRACED.exec(this.#source);
    if (match === null) {
      this.#fail(at, at + 2, 'expected ${NAME} or ${NAME:-default}', ITSELF);
      return this.#replace(at, at + 2, '');
    }
    const [, name = '', fallback] = match;
    const value = this.#env[name];
    if (fallback !== undefined && (value === undefined || value === ''))
      return this.#replace(at, BRACED.lastIndex, fallback);
    return this.#replace(at, BRACED.lastIndex, this.#lookUp(name, at, BRACED.lastIndex));
  }

  #lookUp(name: string, start: number, end: number): string {
    const value = this.#env[name];
    if (value !== undefined) return value;
    this.#fail(
      start,
      end,
      `the environment variable ${name} is not defined`,
      /^\d/.test(name) ? ITSELF : `define it, give a default (\${${name}:-default}), or ${ITSELF}`,
    );
    return '';
  }

  #replace(from: number, to: number, text: string): number {
    this.#push(text, from, false);
    this.#consumed = to;
    return to;
  }

  #fail(start: number, end: number, message: string, hint: string): void {
    this.#failures.push({ start, end, message, hint });
  }
}

function originalOffset(
  runs: readonly { readonly to: number; readonly from: number; readonly copied: boolean }[],
  offset: number,
): number {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((runs[middle]?.to ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const run = runs[low];
  if (run === undefined) return offset;
  return run.copied ? run.from + (offset - run.to) : run.from;
}
