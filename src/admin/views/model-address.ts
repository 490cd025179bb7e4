import type { Dump, DumpListener, DumpRoute } from '../protocol/decode-config-dump.ts';

/** Where language models can be asked, as a dump tells. */
export interface ModelAddress {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** Path that requests have to begin with; empty for none. */
  readonly prefix: string;
  readonly listener: string;
  readonly route: string;
}

const MODEL_KINDS: ReadonlySet<string> = new Set(['ai', 'llmRouter']);

/** The routes that lead to language models, those to many models first. */
export function modelAddresses(dump: Dump): readonly ModelAddress[] {
  const kinds = new Map(dump.backends.map(({ name, kind }) => [name, kind]));
  const found = dump.binds.flatMap(({ address, listeners }) =>
    listeners.flatMap((listener) =>
      listener.routes.flatMap((route) => {
        const kind = route.backends.map(({ name }) => kinds.get(name) ?? name).find((each) => MODEL_KINDS.has(each));
        const place = kind === undefined ? undefined : placeOf(route, listener, address);
        return place === undefined ? [] : [{ kind, place }];
      }),
    ),
  );
  const rank = (kind: string | undefined): number => (kind === 'llmRouter' ? 0 : 1);
  return found.toSorted((a, b) => rank(a.kind) - rank(b.kind)).map(({ place }) => place);
}

/** A route by anything but the beginning of the path is not for a plain question. */
function placeOf(route: DumpRoute, { name, protocol }: DumpListener, address: string): ModelAddress | undefined {
  const port = Number(/:(\d+)$/.exec(address)?.[1]);
  const match = route.matches.find(
    ({ path, headers, query }) =>
      headers.length === 0 && query.length === 0 && (path === '' || path.startsWith('prefix ')),
  );
  if (!(port > 0) || (match === undefined && route.matches.length > 0)) return undefined;
  const prefix = (match?.path ?? '').replace(/^prefix /, '').replace(/\/+$/, '');
  const scheme = /HTTPS|TLS/i.test(protocol) ? 'https' : 'http';
  return { scheme, port, prefix, listener: name, route: route.name };
}
