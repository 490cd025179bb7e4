import { type Instruction, op, type Program, takes } from './program.ts';

/** Part of a text, by positions in the whole of it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The part of a text that is at hand. */
export interface Excerpt {
  readonly text: string;
  /** Position of its first character in the whole. */
  readonly base: number;
  /** Nothing follows. */
  readonly final: boolean;
}

const NONE = -1;

const BEGIN_LINE = 1;
const END_LINE = 2;
const BEGIN_TEXT = 4;
const END_TEXT = 8;
const BOUNDARY = 16;
const NO_BOUNDARY = 32;

/**
 * Finds the matches of a regular expression in a text that comes in pieces: the same ones as in the whole, however it is
 * cut. Simulates the automaton (leftmost match, first alternative) and keeps its state between pieces, so that each
 * character is read once. `hold` is the earliest position from which what is to come could still decide something.
 *
 * A match that has not ended after `window` characters is taken to end there; a beginning of one that is as long is given
 * up.
 */
export class Search {
  readonly #instructions: readonly Instruction[];
  readonly #program: Program;
  readonly #window: number;
  /** Threads before the character at `#at`, best first: instruction and beginning of the match. */
  #threads: number[] = [];
  #starts: number[] = [];
  #nextThreads: number[] = [];
  #nextStarts: number[] = [];
  /** The closure of the threads, by instruction. */
  readonly #seen: Int32Array;
  #generation = 0;
  readonly #closed: number[] = [];
  readonly #closedStarts: number[] = [];
  readonly #stack: number[] = [];
  #at = 0;
  #before = NONE;
  #matchStart = NONE;
  #matchEnd = NONE;

  constructor(program: Program, window: number = Number.POSITIVE_INFINITY) {
    this.#program = program;
    this.#instructions = program.instructions;
    this.#window = window;
    this.#seen = new Int32Array(program.instructions.length);
  }

  get hold(): number {
    const thread = this.#starts[0] ?? this.#at;
    return this.#matchStart === NONE ? thread : Math.min(thread, this.#matchStart);
  }

  /** `excerpt` begins no later than `hold`, and goes on where the last one ended. */
  scan(excerpt: Excerpt, found: (span: Span) => void): void {
    const { text, base, final } = excerpt;
    const { mayBegin } = this.#program;
    for (;;) {
      if (this.#threads.length === 0 && this.#matchStart === NONE) this.#skip(text, base, mayBegin);
      const index = this.#at - base;
      const rune = index < text.length ? runeAt(text, index) : NONE;
      // The other half may follow.
      const cut = !final && rune >= 0xd800 && rune <= 0xdbff && index + 1 === text.length;
      if ((rune === NONE || cut) && !final) return;
      this.#step(rune);
      if (this.#threads.length === 0 && this.#matchStart !== NONE) {
        if (!this.#resolve(excerpt, found)) return;
        continue;
      }
      if (rune === NONE) return;
      this.#before = rune;
      this.#at += rune > 0xffff ? 2 : 1;
      if (this.#at - this.hold > this.#window) this.#overflow(excerpt, found);
    }
  }

  /** To the next character with which a match could begin. */
  #skip(text: string, base: number, mayBegin: Uint8Array): void {
    let index = this.#at - base;
    const from = index;
    while (index < text.length) {
      const unit = text.charCodeAt(index);
      if (unit >= 128 || mayBegin[unit] === 1) break;
      index++;
    }
    if (index === from) return;
    this.#before = text.charCodeAt(index - 1);
    this.#at = base + index;
  }

  #step(rune: number): void {
    const conditions = conditionsBetween(this.#before, rune);
    this.#generation++;
    this.#closed.length = 0;
    this.#closedStarts.length = 0;
    for (let i = 0; i < this.#threads.length; i++) {
      this.#close(this.#threads[i] ?? 0, this.#starts[i] ?? 0, conditions);
    }
    if (this.#matchStart === NONE) this.#close(this.#program.start, this.#at, conditions);
    this.#nextThreads.length = 0;
    this.#nextStarts.length = 0;
    for (let i = 0; i < this.#closed.length; i++) {
      const instruction = this.#instructions[this.#closed[i] ?? 0];
      if (instruction === undefined) continue;
      const start = this.#closedStarts[i] ?? 0;
      if (instruction.op === op.match) {
        this.#matchStart = start;
        this.#matchEnd = this.#at;
        // What comes behind it is worse.
        break;
      }
      if (rune === NONE || !takes(instruction, rune)) continue;
      this.#nextThreads.push(instruction.out);
      this.#nextStarts.push(start);
    }
    [this.#threads, this.#nextThreads] = [this.#nextThreads, this.#threads];
    [this.#starts, this.#nextStarts] = [this.#nextStarts, this.#starts];
  }

  /** Everything that can be reached without reading a character. */
  #close(from: number, start: number, conditions: number): void {
    const stack = this.#stack;
    stack.push(from);
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (this.#seen[pc] === this.#generation) continue;
      this.#seen[pc] = this.#generation;
      const instruction = this.#instructions[pc];
      if (instruction === undefined) continue;
      switch (instruction.op) {
        case op.fail:
          break;
        case op.alternative:
        case op.alternativeMatch:
          stack.push(instruction.arg, instruction.out);
          break;
        case op.empty:
          if ((instruction.arg & ~conditions) === 0) stack.push(instruction.out);
          break;
        case op.capture:
        case op.nothing:
          stack.push(instruction.out);
          break;
        default:
          this.#closed.push(pc);
          this.#closedStarts.push(start);
      }
    }
  }

  /** The match stands. False at the end of the text. */
  #resolve({ text, base }: Excerpt, found: (span: Span) => void): boolean {
    const start = this.#matchStart;
    const end = this.#matchEnd;
    this.#matchStart = NONE;
    let at = end;
    if (end > start) {
      found({ start, end });
    } else {
      // An empty match: the next one begins behind the next character.
      if (end - base >= text.length) return false;
      at = end + (runeAt(text, end - base) > 0xffff ? 2 : 1);
    }
    this.#restart(at, text, base);
    return true;
  }

  #restart(at: number, text: string, base: number): void {
    this.#threads.length = 0;
    this.#starts.length = 0;
    this.#at = at;
    if (at > base) this.#before = runeBefore(text, at - base);
  }

  #overflow({ text, base }: Excerpt, found: (span: Span) => void): void {
    const keep = this.#at - Math.floor(this.#window / 2);
    if (this.#matchStart === NONE) {
      const kept = this.#starts.findIndex((start) => start >= keep);
      this.#threads.splice(0, kept === -1 ? this.#threads.length : kept);
      this.#starts.splice(0, kept === -1 ? this.#starts.length : kept);
      return;
    }
    // The best thread may have begun before the match: it has had its time.
    const growing = (this.#starts[0] ?? this.#at) >= this.#matchStart;
    const start = this.#matchStart;
    const end = growing ? this.#at : Math.max(this.#matchEnd, keep);
    this.#matchStart = NONE;
    found({ start, end });
    this.#restart(end, text, base);
  }
}

function conditionsBetween(before: number, after: number): number {
  let conditions = isWord(before) === isWord(after) ? NO_BOUNDARY : BOUNDARY;
  if (before === NONE) conditions |= BEGIN_TEXT | BEGIN_LINE;
  else if (before === 10) conditions |= BEGIN_LINE;
  if (after === NONE) conditions |= END_TEXT | END_LINE;
  else if (after === 10) conditions |= END_LINE;
  return conditions;
}

/** ASCII, as in RE2. */
function isWord(rune: number): boolean {
  return (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122);
}

function runeAt(text: string, index: number): number {
  return text.codePointAt(index) ?? NONE;
}

function runeBefore(text: string, index: number): number {
  const unit = text.charCodeAt(index - 1);
  if (unit < 0xdc00 || unit > 0xdfff || index < 2) return unit;
  const rune = runeAt(text, index - 2);
  return rune > 0xffff ? rune : unit;
}
