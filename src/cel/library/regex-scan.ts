import type { RE2JS } from 're2js';

/** Whether a pattern is somewhere in a text. */
export type Test = (text: string) => boolean;

/** The automaton of re2js, as far as it is read here. */
interface Automaton {
  /** The pattern is none for an automaton. */
  readonly failed: boolean;
  /** Which column of the tables a character has. */
  readonly latin1Class: Int32Array;
  /** The column of the end of the text. */
  readonly numClasses: number;
  /** What its states may take, in bytes: what there may be, and what is left. */
  stateBudget: number;
  memBudget: number;
  start(input: Context, at: number): State | null;
  /** The next state, made when it is not there yet; null when there is no memory left. */
  stepOrReset(state: State, column: number, rune: number, anchor: number, at: number, search: Search): State | null;
}

interface State {
  readonly isMatch: boolean;
  readonly nfaStates: readonly unknown[];
  readonly next: readonly (State | null)[] | null;
  readonly nextAnchored: readonly (State | null)[] | null;
}

interface Context {
  context(at: number): number;
}

interface Search {
  resetPos: number;
}

const UNANCHORED = 0;
const ANCHOR_START = 1;
const BEGIN_TEXT = 4;
const END_TEXT = -1;
const MAX_LATIN1 = 0xff;
/** For each pattern; beyond it states are forgotten and made again. */
const MAX_STATE_BYTES = 1024 * 1024;

/** The start of a text, before anything of it is read. */
const start: Context = { context: () => BEGIN_TEXT };

/**
 * A test by the automaton of re2js, read from its tables: for texts of ordinary length its own loop takes ten times as long
 * (bench/cel.ts). Linear like everything there. What the tables are not for is left to re2js.
 */
export function testerOf(regex: RE2JS): Test {
  const { dfa, cond } = regex.re2Input as unknown as { readonly dfa: Automaton; readonly cond: number }; // a getter its types leave out
  if (dfa.failed) return (text) => regex.test(text);
  dfa.stateBudget = Math.min(dfa.stateBudget, MAX_STATE_BYTES);
  dfa.memBudget = dfa.stateBudget;
  // What begins with the text is over when nothing can follow; the rest may begin anywhere.
  const anchor = (cond & BEGIN_TEXT) === 0 ? UNANCHORED : ANCHOR_START;
  return (text) => scan(dfa, text, anchor) ?? regex.test(text);
}

/** Undefined for a text that the tables are not for. */
function scan(dfa: Automaton, text: string, anchor: number): boolean | undefined {
  const { latin1Class } = dfa;
  let state = dfa.start(start, 0);
  if (state === null) return undefined;
  let search: Search | null = null;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > MAX_LATIN1) return undefined;
    const column = latin1Class[unit] ?? 0;
    const table: State['next'] = anchor === UNANCHORED ? state.next : state.nextAnchored;
    let next: State | null = table === null ? null : (table[column] ?? null);
    if (next === null) {
      search ??= { resetPos: -1 };
      next = dfa.stepOrReset(state, column, unit, anchor, i, search);
      if (next === null) return undefined;
    }
    if (next.isMatch) return true;
    if (anchor !== UNANCHORED && next.nfaStates.length === 0) return false;
    state = next;
  }
  const end = anchor === UNANCHORED ? state.next : state.nextAnchored;
  const last =
    end?.[dfa.numClasses] ??
    dfa.stepOrReset(state, dfa.numClasses, END_TEXT, anchor, text.length, search ?? { resetPos: -1 });
  return last === null ? undefined : last.isMatch;
}
