import type { Headers } from '../../exchange/headers.ts';
import { type RequestStep, next } from '../contract.ts';
import { RESERVED_PREFIX } from './sealed-cookie.ts';

/** Keeps the cookies of logins from upstreams, on every route: they are of use to the gateway alone. */
export const stripReservedCookies: RequestStep = ({ request }) => {
  const { headers } = request;
  if (headers.has('cookie')) stripCookies(headers, RESERVED_PREFIX);
  return next;
};

/** Takes away every cookie whose name begins so. */
export function stripCookies(headers: Headers, prefix: string): void {
  const lines = headers.getAll('cookie');
  if (!lines.some((line) => line.includes(prefix))) return;
  const kept = lines
    .flatMap((line) => line.split(';'))
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '' && !cookie.startsWith(prefix));
  if (kept.length === 0) headers.remove('cookie');
  else headers.set('cookie', kept.join('; '));
}

/** Names of the cookies that begin so. */
export function cookiesNamed(headers: Headers, prefix: string): readonly string[] {
  return headers
    .getAll('cookie')
    .flatMap((line) => line.split(';'))
    .map((cookie) => cookie.trim().split('=', 1)[0] ?? '')
    .filter((name) => name.startsWith(prefix));
}
