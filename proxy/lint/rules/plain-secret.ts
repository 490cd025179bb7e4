import { REDACTED } from '../../../src/shared/secret.ts';
import type { Found, LintRule, LintSubject } from '../finding.ts';
import { walk, type Path } from '../walk.ts';

/** Keys whose text is a secret, with the kind of thing that they stand in. */
const SECRETS: readonly { readonly key: string; readonly inside: string | null; readonly hint: string }[] = [
  { key: 'key', inside: 'keys', hint: 'write its hash as `keyHash: sha256:…` (printf %s KEY | sha256sum)' },
  { key: 'clientSecret', inside: null, hint: fileHint('clientSecret') },
  { key: 'client_secret', inside: null, hint: 'take it from the environment: `client_secret: ${CLIENT_SECRET}`' },
  { key: 'secretAccessKey', inside: null, hint: fileHint('secretAccessKey') },
  { key: 'signingKey', inside: null, hint: fileHint('signingKey') },
  { key: 'key', inside: 'backendAuth', hint: fileHint('key') },
  { key: 'key', inside: 'credentials', hint: fileHint('key') },
];

function fileHint(key: string): string {
  return `keep it in a file (\`${key}: {file: …}\`) or in the environment (\`\${NAME}\`)`;
}

/** A secret that everybody who reads the file knows. */
export const plainSecret: LintRule = {
  code: 'GW_LINT_PLAIN_SECRET',
  severity: 'warning',
  summary: 'a key or secret stands in the file itself',
  check: (subject) => [...walk(subject.raw)].flatMap(({ path, value }) => told(subject, path, value)),
};

function told(subject: LintSubject, path: Path, value: unknown): Found[] {
  if (typeof value !== 'string' || value === '' || value === REDACTED) return [];
  const names = path.filter((part) => typeof part === 'string');
  const [inside, key] = [names.at(-2), names.at(-1)];
  const known = SECRETS.find((each) => each.key === key && (each.inside === null || each.inside === inside));
  // What is filled in from the environment does not stand in the file.
  if (known === undefined || subject.placeOf(path).written.includes('$')) return [];
  return [{ path, message: `this \`${key}\` is readable by everybody who reads the file`, hint: known.hint }];
}
