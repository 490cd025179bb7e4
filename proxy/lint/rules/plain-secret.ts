import { credentialHeaders, isHeaderModifier } from '../../../src/shared/credentials.ts';
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
  { key: 'key', inside: 'auth', hint: fileHint('key') },
  { key: 'key', inside: 'session', hint: 'take it from the environment: leave it out, and set SESSION_KEY' },
  { key: 'apiKey', inside: 'params', hint: fileHint('apiKey') },
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
  const known = knownSecret(path, value);
  // What is filled in from the environment does not stand in the file.
  if (known === null || subject.placeOf(path).written.includes('$')) return [];
  return [{ path, message: `this ${known.what} is readable by everybody who reads the file`, hint: known.hint }];
}

function knownSecret(path: Path, value: string): { readonly what: string; readonly hint: string } | null {
  const names = path.filter((part) => typeof part === 'string');
  const [inside, key = ''] = [names.at(-2), names.at(-1)];
  const known = SECRETS.find((each) => each.key === key && (each.inside === null || each.inside === inside));
  if (known !== undefined) return { what: `\`${key}\``, hint: known.hint };
  if (value.includes('PRIVATE KEY-----')) return { what: 'private key', hint: fileHint(key) };
  const written = inside === 'set' || inside === 'add' || inside === 'headers';
  if (!written || !credentialHeaders.includes(key.toLowerCase()) || !names.some(isLiteral)) return null;
  return { what: `value of ${key}`, hint: `take it from the environment: \`${key}: \${NAME}\`` };
}

/** Where headers are written as they stand, and not as expressions. */
function isLiteral(name: string): boolean {
  return isHeaderModifier(name) || name === 'otlp' || name === 'tracing';
}
