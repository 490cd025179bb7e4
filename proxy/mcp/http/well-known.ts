import type { McpBackend } from '../../../src/config/ir/index.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { pathOf, type HttpRequest, type HttpResponse } from '../../exchange/message.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { HttpCaller } from '../targets/http-caller.ts';
import { rebindingRefusal } from './dns-rebinding.ts';
import { failureAnswer } from './refusals.ts';

const DOCUMENTS = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'] as const;

/** What servers may take for a way up, out of the documents (RFC 3986 section 5.2.4), in whatever way they decode it. */
const UPWARDS = /[/\\]\.{1,2}(?:[/\\;]|$)|\\|%2e|%2f|%5c|%25/i;

/**
 * Whether a request is for what the only target says of its own login, and goes to it as it is. Not for pages that reach the gateway by a name that is not its own.
 */
export function isForTargetItself(
  exchange: Pick<Exchange, 'clientAuthority'> & {
    readonly request: Pick<HttpRequest, 'method' | 'target' | 'headers'>;
  },
  backend: Pick<McpBackend, 'targets' | 'dnsRebindingProtection'>,
): boolean {
  const { request } = exchange;
  const [target, ...others] = backend.targets;
  if (target === undefined || others.length > 0) return false;
  if (target.server.kind !== 'streamable' && target.server.kind !== 'sse') return false;
  if (request.method !== 'GET' && request.method !== 'OPTIONS') return false;
  const path = pathOf(request.target);
  if (!DOCUMENTS.some((document) => path === document || path.startsWith(`${document}/`))) return false;
  if (UPWARDS.test(path)) return false;
  return !backend.dnsRebindingProtection || rebindingRefusal(exchange) === null;
}

/** Asks the target as the client asks, and answers as it answers. */
export async function passedThrough(exchange: Exchange, caller: HttpCaller): Promise<HttpResponse | Refusal> {
  const { method, target, headers: own } = exchange.request;
  const headers = own.clone();
  const call = { exchange, trace: exchange.trace, headers, version: null };
  const calling = caller.send({ method, target, headers, body: null, lasting: false, pinned: undefined }, call);
  const forget = exchange.onClientGone(() => calling.cancel());
  const outcome = await calling.outcome;
  forget();
  return outcome.kind === 'answer' ? outcome.response : failureAnswer(outcome, { id: null, era: 'legacy' });
}
