import type { HttpRequest } from './message.ts';

/** What to do with `x-forwarded-*` of the client: add to them, replace them, or leave everything alone. */
export type ForwardedMode = 'append' | 'overwrite' | 'off';

/** Tells the upstream who asked, over which scheme and for which host, before any policy changes the request. */
export function applyForwardedHeaders(request: HttpRequest, sourceAddress: string, mode: ForwardedMode): void {
  if (mode === 'off') return;
  const { headers } = request;
  const keep = mode === 'append';
  const before = keep && headers.has('x-forwarded-for') ? `${headers.getAll('x-forwarded-for').join(', ')}, ` : '';
  headers.set('x-forwarded-for', before + sourceAddress);
  if (!keep || !headers.has('x-forwarded-proto')) headers.set('x-forwarded-proto', request.scheme);
  if (!keep || !headers.has('x-forwarded-host')) headers.set('x-forwarded-host', request.authority);
}
