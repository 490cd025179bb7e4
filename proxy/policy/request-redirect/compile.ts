import type { AuthorityChange, RequestRedirect } from '../../../src/config/ir/index.ts';
import { assertNever } from '../../../src/shared/assert-never.ts';
import { emptyBody } from '../../exchange/body.ts';
import { Headers } from '../../exchange/headers.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import { pathOf, splitAuthority } from '../../exchange/message.ts';
import type { PolicyContext, RequestStep } from '../contract.ts';
import { invalidPolicy } from '../invalid-policy.ts';
import { changeTarget, needsPrefixMatch, noPrefix } from '../url-change.ts';

/** Answers with a redirect to an absolute location. Throws `GW_POLICY_INVALID`. */
export function requestRedirect(spec: RequestRedirect, context: PolicyContext): RequestStep {
  if (spec.status < 300 || spec.status > 399) {
    throw invalidPolicy(context.source, 'requestRedirect', `${spec.status} is not a redirect status`);
  }
  return (exchange) => {
    const { request } = exchange;
    const current = request.target.charCodeAt(0) === 47 ? request.target : '/';
    const target = spec.path === undefined ? current : changeTarget(spec.path, current, exchange.matchedPath);
    if (target === null) {
      if (exchange.trace !== null)
        exchange.trace.applied('request_redirect', `${noPrefix} (from ${context.source})`, 'error');
      return { kind: 'fail', refusal: needsPrefixMatch };
    }
    const origin = `${spec.scheme ?? request.scheme}://${redirectAuthority(spec, request)}`;
    if (exchange.trace !== null) {
      const details = `${spec.status} to ${origin}${pathOf(target)} (from ${context.source})`;
      exchange.trace.applied('request_redirect', details);
    }
    const headers = new Headers(['location'], [origin + target]);
    const response = { status: spec.status, headers, body: emptyBody };
    return { kind: 'respond', response, policy: 'requestRedirect' };
  };
}

/**
 * The port of the request is kept unless a scheme is configured, which brings its own default port (Gateway API,
 * HTTPRequestRedirectFilter).
 */
function redirectAuthority(spec: RequestRedirect, request: HttpRequest): string {
  const change: AuthorityChange = spec.authority ?? { kind: 'auto' };
  const { host, port } = splitAuthority(request.authority);
  const scheme = spec.scheme ?? request.scheme;
  const keptPort = spec.scheme === undefined ? port : undefined;
  switch (change.kind) {
    case 'full':
      return change.value;
    case 'none':
      return request.authority;
    case 'host':
      return withPort(change.value, keptPort, scheme);
    case 'port':
      return withPort(host, change.value, scheme);
    case 'auto':
      return withPort(host, keptPort, scheme);
    default:
      return assertNever(change);
  }
}

function withPort(host: string, port: number | undefined, scheme: 'http' | 'https'): string {
  return port === undefined || port === (scheme === 'https' ? 443 : 80) ? host : `${host}:${port}`;
}
