import { lateLibrary } from '../../../../src/shared/late-library.ts';
import { testerOf, type Test } from '../../../../src/cel/library/regex-scan.ts';
import { GwError, messageOf } from '../../../../src/shared/errors.ts';

/** One step of a compiled regular expression, as re2js makes it. */
export interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
}

/** A regular expression that can be followed through a text that is not there yet. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  /** Whether a match may begin with an ASCII character; false saves the look. */
  readonly mayBegin: Uint8Array;
  /** Whether there is a match in a whole text: much faster than to look for it. */
  readonly test: Test;
}

/** Operations of re2js. */
export const op = {
  alternative: 1,
  alternativeMatch: 2,
  capture: 3,
  empty: 4,
  fail: 5,
  match: 6,
  nothing: 7,
  rune: 8,
  oneRune: 9,
  any: 10,
  anyButNewline: 11,
} as const;

/** Throws a `GwError` for what is no regular expression in RE2 syntax. */
export function compileProgram(pattern: string): Program {
  try {
    const regex = lateLibrary('re2js').RE2JS.compile(pattern);
    // `as`: a getter that its types leave out.
    const { prog } = regex.re2Input as unknown as {
      readonly prog: { readonly inst: readonly Instruction[]; readonly start: number };
    };
    const { inst, start } = prog;
    return { instructions: inst, start, mayBegin: beginnings(inst, start), test: testerOf(regex) };
  } catch (error) {
    throw new GwError(`promptGuard regex: ${messageOf(error)}`, { code: 'GW_POLICY_INVALID', cause: error });
  }
}

/** Conditions without width are taken to hold. What may match nothing may begin everywhere. */
function beginnings(instructions: readonly Instruction[], start: number): Uint8Array {
  const table = new Uint8Array(128);
  const seen = new Set<number>();
  const stack = [start];
  for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
    const instruction = instructions[pc];
    if (instruction === undefined || seen.has(pc)) continue;
    seen.add(pc);
    switch (instruction.op) {
      case op.fail:
        break;
      case op.match:
        return table.fill(1);
      case op.alternative:
      case op.alternativeMatch:
        stack.push(instruction.out, instruction.arg);
        break;
      case op.capture:
      case op.empty:
      case op.nothing:
        stack.push(instruction.out);
        break;
      default:
        for (let rune = 0; rune < 128; rune++) if (takes(instruction, rune)) table[rune] = 1;
    }
  }
  return table;
}

/** Whether an instruction that reads a character reads this one. */
export function takes(instruction: Instruction, rune: number): boolean {
  switch (instruction.op) {
    case op.rune:
      return instruction.matchRune(rune);
    case op.oneRune:
      return rune === instruction.runes[0];
    case op.any:
      return true;
    case op.anyButNewline:
      return rune !== 10;
    default:
      return false;
  }
}
