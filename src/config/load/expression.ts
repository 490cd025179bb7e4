import type { Path, Problem } from './problem.ts';

interface Text {
  readonly kind: 'regex' | 'cel' | 'celFunctions';
  readonly path: Path;
  readonly source: string;
}

/** Parses the expressions of a file, to tell of those that are wrong. The parser is loaded only when there are some. */
export async function expressionProblems(texts: readonly Text[]): Promise<Problem[]> {
  if (texts.length === 0) return [];
  const { parse } = await import('../../cel/syntax/parser.ts');
  const { CelSyntaxError } = await import('../../cel/syntax/syntax-error.ts');
  const checkFunctions = texts.some(({ kind }) => kind === 'celFunctions') ? await functionChecker() : parse;
  return texts.flatMap(({ kind, path, source }) => {
    // A text without anything is left to the schema.
    if (source === '') return [];
    try {
      if (kind === 'celFunctions') checkFunctions(source);
      else parse(source);
      return [];
    } catch (error) {
      if (!(error instanceof CelSyntaxError)) throw error;
      const what = kind === 'celFunctions' ? 'the function definitions' : 'the expression';
      const place = source.includes('\n') ? `line ${error.line}, column ${error.column}` : `column ${error.column}`;
      const message = `${error.reason} (${place} of ${what})`;
      return [{ path, code: 'GW_CONFIG_VALUE' as const, message }];
    }
  });
}

async function functionChecker(): Promise<(source: string) => unknown> {
  const { parseDefinitions } = await import('../../cel/custom/definitions.ts');
  const { isTaken } = await import('../../cel/names.ts');
  const { library } = await import('../../cel/library/library.ts');
  const functions = library({ random: () => 0, uuid: () => '' });
  return (source) => parseDefinitions(source, (name) => isTaken(name, functions));
}
