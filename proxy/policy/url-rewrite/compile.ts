import type { UrlRewrite } from '../../../src/config/ir/index.ts';
import { pathOf, splitAuthority } from '../../exchange/message.ts';
import type { PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { changeTarget, needsPrefixMatch, noPrefix } from '../url-change.ts';

/**
 * Whether the authority becomes the backend's own: `default` for backends with a hostname, `auto` for services too,
 * `off` when a policy has said what it is to be.
 */
export type HostRewrite = 'default' | 'auto' | 'off';

/** Changes authority and path of the request; the query stays. */
export function urlRewrite(spec: UrlRewrite, context: PolicyContext): RequestStep {
  return (exchange) => {
    const { request } = exchange;
    const before = request.target;
    const target = spec.path === undefined ? before : changeTarget(spec.path, before, exchange.matchedPath);
    if (target === null) {
      if (exchange.trace !== null)
        exchange.trace.applied('url_rewrite', `${noPrefix} (from ${context.source})`, 'error');
      return { kind: 'fail', refusal: needsPrefixMatch };
    }
    request.target = target;
    const authority = rewrittenAuthority(spec, request.authority);
    const details =
      exchange.trace === null ? '' : describe([request.authority, authority], [pathOf(before), pathOf(target)]);
    request.authority = authority;
    if (exchange.trace !== null) exchange.trace.applied('url_rewrite', `${details} (from ${context.source})`);
    return next;
  };
}

export function hostRewriteOf(spec: UrlRewrite | undefined): HostRewrite {
  if (spec?.authority === undefined) return 'default';
  return spec.authority.kind === 'auto' ? 'auto' : 'off';
}

function rewrittenAuthority(spec: UrlRewrite, current: string): string {
  switch (spec.authority?.kind) {
    case 'full':
    case 'host':
      return spec.authority.value;
    case 'port':
      return `${splitAuthority(current).host}:${spec.authority.value}`;
    default:
      return current; // `auto` is applied when the backend is known
  }
}

function describe(authority: readonly [string, string], path: readonly [string, string]): string {
  const parts = [
    ...(authority[0] === authority[1] ? [] : [`authority ${authority[0]} → ${authority[1]}`]),
    ...(path[0] === path[1] ? [] : [`path ${path[0]} → ${path[1]}`]),
  ];
  return parts.length === 0 ? 'nothing changed' : parts.join(', ');
}
