import type { Dump, DumpListener, DumpRoute } from '../protocol/decode-config-dump.ts';

/** Where clients reach backends of a kind, as a dump tells. */
export interface RouteAddress {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** Path that requests have to begin with; empty for none. */
  readonly prefix: string;
  readonly listener: string;
  readonly route: string;
  /** Kind of the backend. */
  readonly kind: string;
}

/** The routes that lead to backends of these kinds, in the order of the kinds. */
export function routeAddresses(dump: Dump, wanted: readonly string[]): readonly RouteAddress[] {
  const kinds = new Map(dump.backends.map(({ name, kind }) => [name, kind]));
  const found = dump.binds.flatMap(({ address, listeners }) =>
    listeners.flatMap((listener) =>
      listener.routes.flatMap((route) => {
        const kind = route.backends.map(({ name }) => kinds.get(name) ?? name).find((each) => wanted.includes(each));
        const place = kind === undefined ? undefined : placeOf(route, listener, { address, kind });
        return place ?? [];
      }),
    ),
  );
  return found.toSorted((a, b) => wanted.indexOf(a.kind) - wanted.indexOf(b.kind));
}

/** A route by anything but the beginning of the path is not for a plain question. */
function placeOf(
  route: DumpRoute,
  { name, protocol }: DumpListener,
  { address, kind }: { readonly address: string; readonly kind: string },
): RouteAddress | undefined {
  const port = Number(/:(\d+)$/.exec(address)?.[1]);
  const match = route.matches.find(
    ({ path, headers, query }) =>
      headers.length === 0 && query.length === 0 && (path === '' || path.startsWith('prefix ')),
  );
  if (!(port > 0) || (match === undefined && route.matches.length > 0)) return undefined;
  const prefix = (match?.path ?? '').replace(/^prefix /, '').replace(/\/+$/, '');
  const scheme = /HTTPS|TLS/i.test(protocol) ? 'https' : 'http';
  return { scheme, port, prefix, listener: name, route: route.name, kind };
}
