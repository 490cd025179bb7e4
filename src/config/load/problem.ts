import type { ConfigIssueCode } from '../errors.ts';

/** Where in the raw value a problem is: keys and positions from the top. */
export type Path = readonly (string | number)[];

/** A problem found after the text was read, still without its place in the text. */
export interface Problem {
  readonly path: Path;
  readonly code: ConfigIssueCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly severity?: 'error' | 'warning' | undefined;
  /** Point at the key rather than at its value. */
  readonly atKey?: boolean | undefined;
  /** Shown in place of the path: an environment variable. */
  readonly subject?: string | undefined;
}

/** Writes a path the way people read it: `routes[0].matches[1].path`, `services["a/b"]`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}
