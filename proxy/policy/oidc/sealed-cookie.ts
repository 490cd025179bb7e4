import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

import type { Secret } from '../../../src/shared/secret.ts';
import type { JsonObject } from '../../exchange/attributes.ts';

/** Browsers keep cookies of about 4096 bytes, name and attributes included. */
export const MAX_COOKIE_VALUE = 3800;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Prefix of the names of all cookies of this policy. */
export const RESERVED_PREFIX = 'gw_oidc_';

export interface CookieNames {
  /** Of the session. */
  readonly session: string;
  /** Of logins under way; the id of the login follows. */
  readonly transaction: string;
}

export function cookieNames(policyId: string): CookieNames {
  const hex = createHash('sha256').update(policyId).digest('hex').slice(0, 16);
  return { session: `${RESERVED_PREFIX}s_${hex}`, transaction: `${RESERVED_PREFIX}t_${hex}.` };
}

/** Encrypts what a cookie holds, so that nobody but the gateways with this key can read or make one. */
export class CookieSealer {
  readonly #key: Buffer;
  readonly #policyId: string;

  constructor(key: Secret, policyId: string) {
    this.#key = Buffer.from(key.reveal(), 'hex');
    this.#policyId = policyId;
  }

  /** `purpose` keeps one kind of cookie from being shown as another. */
  seal(purpose: string, content: JsonObject): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.#bound(purpose));
    const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(content)), cipher.final(), cipher.getAuthTag()]);
    return sealed.toString('base64');
  }

  /** Null for anything that `seal` has not made for this purpose, policy and key. */
  open(purpose: string, value: string): JsonObject | null {
    if (value.length > MAX_COOKIE_VALUE) return null;
    const bytes = Buffer.from(value, 'base64');
    // One spelling only: decoding is lenient.
    if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64') !== value) return null;
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(this.#bound(purpose));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      // `as`: only `seal` makes what this key opens.
      return JSON.parse(text.toString()) as JsonObject;
    } catch {
      return null;
    }
  }

  #bound(purpose: string): Buffer {
    return Buffer.from(`${purpose}\0${this.#policyId}`);
  }
}

/** The value of a `Set-Cookie` header; without a value it takes the cookie away. */
export function setCookie(
  name: string,
  { value, maxAgeS, secure }: { readonly value: string; readonly maxAgeS: number; readonly secure: boolean },
): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
