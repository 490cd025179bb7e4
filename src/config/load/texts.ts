import type { CheckKind } from '../schema/marks.ts';
import { expressionProblems } from './expression.ts';
import type { Path, Problem } from './problem.ts';
import { regexProblems } from './regex.ts';

/** Texts in languages whose readers are loaded only when a file has some. */
export type CollectedKind = Extract<CheckKind, 'regex' | 'cel' | 'celFunctions'>;

export interface CheckedText {
  readonly kind: CollectedKind;
  readonly path: Path;
  readonly source: string;
}

export function isCollected(kind: CheckKind): kind is CollectedKind {
  return kind === 'regex' || kind === 'cel' || kind === 'celFunctions';
}

/** What is wrong with the texts of a file. */
export async function textProblems(texts: readonly CheckedText[]): Promise<Problem[]> {
  const regexes = texts.filter(({ kind }) => kind === 'regex');
  const expressions = texts.filter(({ kind }) => kind !== 'regex');
  return [...(await regexProblems(regexes)), ...(await expressionProblems(expressions))];
}
