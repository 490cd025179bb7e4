import { Secret } from '../../../shared/secret.ts';
import type { HashScheme, HtpasswdUser } from '../../ir/policy/basic-auth.ts';

/** A line that lets nobody in, and why. */
export interface HtpasswdProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface Htpasswd {
  readonly users: readonly HtpasswdUser[];
  readonly problems: readonly HtpasswdProblem[];
}

const SCHEMES: readonly (readonly [HashScheme, RegExp])[] = [
  ['bcrypt', /^\$2[abxy]\$(0[4-9]|1[0-7])\$[./A-Za-z0-9]{53}$/],
  ['md5', /^\$(apr1|1)\$[^$\s]{1,8}\$[./0-9A-Za-z]{22}$/],
  ['sha2', /^\$5\$(rounds=[0-9]{1,6}\$)?[^$\s]{0,16}\$[./0-9A-Za-z]{43}$/],
  ['sha2', /^\$6\$(rounds=[0-9]{1,6}\$)?[^$\s]{0,16}\$[./0-9A-Za-z]{86}$/],
  ['sha1', /^\{SHA\}[A-Za-z0-9+/]{27}=$/],
  ['des', /^[./0-9A-Za-z]{13}$/],
];
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Reads `user:hash` lines; what stands behind a further colon is a comment. Of two lines of one user the last counts. */
export function parseHtpasswd(text: string): Htpasswd {
  const users = new Map<string, HtpasswdUser>();
  const problems: HtpasswdProblem[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [name = '', hash] = line.split(':');
    const problem = lineProblem(name, hash, users);
    if (problem !== null) problems.push({ line: index + 1, message: problem });
    const scheme = hash === undefined ? undefined : schemeOf(hash);
    if (name !== '' && hash !== undefined && scheme !== undefined)
      users.set(name, { name, scheme, hash: new Secret(hash) });
  }
  return { users: [...users.values()], problems };
}

/** The scheme of a hash that can be checked in bounded time; undefined for anything else, plain text included. */
function schemeOf(hash: string): HashScheme | undefined {
  return SCHEMES.find(([, form]) => form.test(hash))?.[0];
}

/** Messages name no part of the hash: it may be a password in plain text. */
function lineProblem(name: string, hash: string | undefined, users: ReadonlyMap<string, unknown>): string | null {
  if (name === '' || hash === undefined || CONTROL.test(name)) return 'is not user:hash';
  if (schemeOf(hash) === undefined) return `has no hash of a known form for the user ${JSON.stringify(name)}`;
  return users.has(name) ? `is another line of the user ${JSON.stringify(name)}, and the one that counts` : null;
}
