import { lateLibrary } from '../../shared/late-library.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Path, Problem } from './problem.ts';

/** Compiles the regular expressions of a file, to tell of those that are wrong. The engine is loaded only when there are some. */
export async function regexProblems(
  regexes: readonly { readonly path: Path; readonly source: string }[],
): Promise<Problem[]> {
  if (regexes.length === 0) return [];
  const { RE2JS } = lateLibrary('re2js');
  return regexes.flatMap(({ path, source }) => {
    try {
      RE2JS.compile(source);
      return [];
    } catch (error) {
      return [
        {
          path,
          code: 'GW_CONFIG_VALUE' as const,
          message: `not a regular expression in RE2 syntax: ${messageOf(error)}`,
        },
      ];
    }
  });
}
