import { Secret } from '../../shared/secret.ts';
import type { Path } from '../load/problem.ts';
import type { Context } from './context.ts';

/** A text, or the file that holds it. */
export type SecretTextSpec = string | { readonly file: string };

/**
 * The secret, as written or as its file has it without white space around it (editors end files with a line break).
 * Undefined after a problem, or while the file is not read yet.
 */
export function secretText(context: Context, spec: SecretTextSpec, path: Path): Secret | undefined {
  if (typeof spec === 'string') return new Secret(spec);
  const content = context.files.get(context.files.absolute(spec.file));
  if (content?.kind === 'text') return new Secret(content.text.trim());
  if (content?.kind === 'failed') context.report([...path, 'file'], 'GW_CONFIG_FILE', content.message);
  return undefined;
}
