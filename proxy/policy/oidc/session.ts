import { createHash, timingSafeEqual } from 'node:crypto';

import type { Oidc } from '../../../src/config/ir/index.ts';
import { readCookie } from '../../credentials/cookies.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { WallClock } from '../../jwt/verifier.ts';
import { type CookieNames, CookieSealer, cookieNames, MAX_COOKIE_VALUE, setCookie } from './sealed-cookie.ts';

const SESSION_S = 3600;
const TRANSACTION_S = 300;

/** A login under way. */
export interface Transaction {
  readonly transactionId: string;
  readonly csrfState: string;
  readonly nonce: string;
  readonly pkceVerifier: string;
  /** Where the browser wanted to go: path and query. */
  readonly originalUri: string;
}

/** What browsers keep for one policy. */
export class BrowserState {
  readonly names: CookieNames;
  readonly #sealer: CookieSealer;
  readonly #policyId: string;
  readonly #secure: boolean;
  readonly #now: WallClock;

  constructor({ policyId, cookieKey, redirectUri }: Oidc, now: WallClock) {
    this.names = cookieNames(policyId);
    this.#sealer = new CookieSealer(cookieKey, policyId);
    this.#policyId = policyId;
    this.#secure = redirectUri.toLowerCase().startsWith('https:');
    this.#now = now;
  }

  /** The ID token of the session; null without one that is still good. */
  session(headers: Headers): string | null {
    const content = this.#open('session', readCookie(headers, this.names.session));
    const token = content?.['idToken'];
    return typeof token === 'string' ? token : null;
  }

  /** The `Set-Cookie` of a session; null when the token is too large for a cookie. */
  startSession(idToken: string, expiresS: number): string | null {
    const nowS = Math.floor(this.#now() / 1000);
    const maxAgeS = Math.max(0, Math.min(SESSION_S, Math.floor(expiresS) - nowS));
    const value = this.#seal('session', { idToken }, maxAgeS);
    return value.length > MAX_COOKIE_VALUE ? null : setCookie(this.names.session, this.#attributes(value, maxAgeS));
  }

  /** The login of that id; null when this browser has not begun it, or too long ago. */
  transaction(headers: Headers, id: string): Transaction | null {
    const content = this.#open('transaction', readCookie(headers, this.names.transaction + id));
    // `as`: only `startTransaction` seals for this purpose.
    const transaction = content as (Transaction & JsonObject) | null;
    return transaction !== null && sameText(transaction.transactionId, id) ? transaction : null;
  }

  startTransaction(transaction: Transaction): string {
    const value = this.#seal('transaction', { ...transaction }, TRANSACTION_S);
    return setCookie(this.names.transaction + transaction.transactionId, this.#attributes(value, TRANSACTION_S));
  }

  /** The `Set-Cookie` that takes a cookie away. */
  forget(name: string): string {
    return setCookie(name, this.#attributes('', 0));
  }

  #seal(purpose: string, content: JsonObject, lifeS: number): string {
    const expiresAtMs = this.#now() + lifeS * 1000;
    return this.#sealer.seal(purpose, { ...content, policyId: this.#policyId, expiresAtMs });
  }

  #open(purpose: string, value: string | null): JsonObject | null {
    const content = value === null ? null : this.#sealer.open(purpose, value);
    if (content === null || content['policyId'] !== this.#policyId) return null;
    const { expiresAtMs } = content;
    return typeof expiresAtMs === 'number' && this.#now() < expiresAtMs ? content : null;
  }

  #attributes(value: string, maxAgeS: number) {
    return { value, maxAgeS, secure: this.#secure };
  }
}

/** Compares in a time that tells nothing about where the texts differ. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
