import type { Csrf } from '../../../src/config/ir/index.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import { refuse } from '../../exchange/refusal.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';

const failed: Outcome = { kind: 'fail', refusal: refuse(403, 'Authorization', 'CSRF validation failed') };
// oxlint-disable-next-line no-control-regex
const NOT_ASCII = /[^\u0000-\u007f]/;

/** Refuses what a page of another origin made the browser send. */
export function csrf(spec: Csrf, { source }: PolicyContext): RequestStep {
  const additional = new Set(spec.additionalOrigins.map(asBrowsersWrite));
  return (exchange) => {
    const { request, trace } = exchange;
    if (isSafe(request.method)) {
      trace?.skipped('csrf', `${request.method} changes nothing`);
      return next;
    }
    const verdict = judge(request, additional);
    trace?.applied('csrf', `${verdict.why} (from ${source})`, verdict.passes ? 'info' : 'error');
    return verdict.passes ? next : failed;
  };
}

interface Verdict {
  readonly passes: boolean;
  readonly why: string;
}

const ownPage: Verdict = { passes: true, why: 'the browser says that its own page asks' };
const noOrigin: Verdict = { passes: true, why: 'the request comes from no page' };
const sameOrigin: Verdict = { passes: true, why: 'the origin is that of the request' };
const listed: Verdict = { passes: true, why: 'the origin is one of additionalOrigins' };
const foreignSite: Verdict = { passes: false, why: 'the browser says that a page of another origin asks' };
const foreignOrigin: Verdict = { passes: false, why: 'the origin is not that of the request' };
const unreadable: Verdict = { passes: false, why: 'Origin or Sec-Fetch-Site holds more than ASCII' };

/** What the browser says of the site decides; only without it is the origin compared with the request. */
function judge({ headers, scheme, authority }: HttpRequest, additional: ReadonlySet<string>): Verdict {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  if (NOT_ASCII.test(site ?? '') || NOT_ASCII.test(origin ?? '')) return unreadable;
  if (site === 'same-origin' || site === 'none') return ownPage;
  if (site === undefined) {
    if (origin === undefined || origin === 'null') return noOrigin;
    if (origin.toLowerCase() === originOf(scheme, authority)) return sameOrigin;
  }
  if (origin !== undefined && additional.has(origin)) return listed;
  return site === undefined ? foreignOrigin : foreignSite;
}

function originOf(scheme: HttpRequest['scheme'], authority: string): string {
  return asBrowsersWrite(`${scheme}://${authority}`);
}

/** Lower case, without the scheme's own port (RFC 6454 section 6.2). */
function asBrowsersWrite(origin: string): string {
  const lower = origin.toLowerCase();
  const own = lower.startsWith('https:') ? ':443' : ':80';
  return lower.endsWith(own) ? lower.slice(0, -own.length) : lower;
}

/** RFC 9110 section 9.2.1, without TRACE, which browsers cannot send. */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
