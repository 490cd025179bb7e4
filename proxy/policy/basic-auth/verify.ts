import { createHash, timingSafeEqual } from 'node:crypto';

import type { HashScheme } from '../../../src/config/ir/index.ts';
import { assertNever } from '../../../src/shared/assert-never.ts';
import { lateLibrary } from '../../../src/shared/late-library.ts';
import { shaCrypt } from './hashes/sha-crypt.ts';

/** Whether a hash is that of the password. Takes from microseconds (`sha1`) to seconds (`bcrypt` with a high cost). */
export function verify(password: string, hash: string, scheme: HashScheme): boolean {
  const octets = Buffer.from(password, 'utf8');
  const digest = hash.slice(hash.lastIndexOf('$') + 1);
  switch (scheme) {
    case 'sha1':
      return equal(`{SHA}${createHash('sha1').update(octets).digest('base64')}`, hash);
    case 'md5': {
      const md5Crypt = lateLibrary('apache-md5');
      const computed = md5Crypt(octets.toString('latin1'), Buffer.from(hash, 'utf8').toString('latin1'));
      return equal(computed.slice(computed.lastIndexOf('$') + 1), digest);
    }
    case 'sha2':
      return equal(shaCrypt(octets, hash.slice(0, hash.lastIndexOf('$'))), digest);
    case 'des':
      return equal(lateLibrary('unix-crypt-td-js')([...octets], hash), hash);
    case 'bcrypt':
      return bcrypt(password, hash);
    default:
      return assertNever(scheme);
  }
}

/** `$2x$` marks hashes of an implementation that went wrong beyond ASCII: those match no password. */
function bcrypt(password: string, hash: string): boolean {
  const { compareSync } = lateLibrary('bcryptjs');
  if (!hash.startsWith('$2x$')) return compareSync(password, hash);
  return Buffer.byteLength(password) === password.length && compareSync(password, `$2b$${hash.slice(4)}`);
}

function equal(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left, 'latin1'), Buffer.from(right, 'latin1')];
  return one.length === other.length && timingSafeEqual(one, other);
}
