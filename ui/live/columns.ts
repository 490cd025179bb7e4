import { width as cellsOf } from '../terminal/text.ts';
import { operationOf, shortRoute } from '../trace/request.ts';
import type { LiveRequest } from './state.ts';

/** Widths of the table's columns, the gap behind each included; 0 leaves a column out. */
export interface Columns {
  readonly time: number;
  readonly method: number;
  readonly host: number;
  readonly path: number;
  readonly status: number;
  readonly route: number;
  readonly backend: number;
  readonly took: number;
  readonly bar: number;
  /** The path column begins with the host. */
  readonly hostInPath: boolean;
}

/** So many of the newest requests have a say in the widths. */
const MEASURED = 100;
/** Shares of the free room where not all fits. */
const SHARES = { route: 0.24, backend: 0.24, host: 0.18 };

/** Columns as wide as what they hold, as far as there is room; the path gets what is left. */
export function columnsOf(width: number, requests: readonly LiveRequest[]): Columns {
  const base = {
    time: width >= 56 ? 9 : 0,
    method: width >= 30 ? 8 : 5,
    status: 7,
    took: width >= 36 ? 9 : 0,
    bar: width >= 90 ? 9 : 0,
  };
  const rest = Math.max(6, width - 1 - base.time - base.method - base.status - base.took - base.bar);
  const measured = requests.slice(-MEASURED);
  const wanted = {
    route: width >= 100 ? widest('ROUTE', measured.map(routeText)) : 0,
    backend:
      width >= 76
        ? widest(
            'BACKEND',
            measured.map(({ facts }) => facts.backend ?? ''),
          )
        : 0,
    host:
      width >= 110
        ? widest(
            'HOST',
            measured.map(({ facts }) => facts.host ?? ''),
          )
        : 0,
  };
  const paths = measured.map(({ facts }) => [facts.path ?? '', operationOf(facts)].filter(Boolean).join(' '));
  const whole = withPath(wanted, rest);
  const side = whole.path >= most(paths) ? whole : withPath(narrowed(wanted, rest), rest);
  const targets = measured.map(({ facts }) =>
    [`${facts.host ?? ''}${facts.path ?? ''}`, operationOf(facts)].filter(Boolean).join(' '),
  );
  return { ...base, ...side, hostInPath: side.host === 0 && most(targets) <= side.path };
}

/** The route as the table names it: by the end of its key, `none` when no route fitted. */
export function routeText({ facts }: LiveRequest): string {
  return facts.route === null ? 'none' : shortRoute(facts.route ?? '');
}

type Side = Readonly<Record<'route' | 'backend' | 'host', number>>;

function narrowed(wanted: Side, rest: number): Side {
  const cells = (name: keyof Side): number => Math.min(wanted[name], Math.floor(rest * SHARES[name]));
  return { route: cells('route'), backend: cells('backend'), host: cells('host') };
}

function withPath(side: Side, rest: number): Side & { readonly path: number } {
  return { ...side, path: rest - side.route - side.backend - side.host };
}

function widest(title: string, texts: readonly string[]): number {
  return Math.max(title.length, ...texts.map(cellsOf)) + 1;
}

/** A width that four of five texts fit in: one long path does not take the room of all columns. */
function most(texts: readonly string[]): number {
  const sorted = texts.map(cellsOf).toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length * 0.8)] ?? 0) + 1;
}
