/** Time of one route look-up against the number of routes: `node bench/routing.ts`. */
import { Headers } from '../proxy/exchange/headers.ts';
import type { RoutedRequest } from '../proxy/routing/facts.ts';
import { compileRouteTable } from '../proxy/routing/table.ts';
import type { HttpRoute, RouteMatch } from '../src/config/ir/index.ts';

type Shape = (index: number) => { readonly hostnames: readonly string[]; readonly match: RouteMatch };

const headers = Headers.from([
  ['user-agent', 'bench'],
  ['accept', '*/*'],
  ['x-tenant', 't7'],
]);
const bare = { headers: [], query: [] };

const shapes: Readonly<Record<string, Shape>> = {
  prefix: (i) => ({ hostnames: [], match: { path: { kind: 'pathPrefix', value: `/api/v1/service-${i}` }, ...bare } }),
  exact: (i) => ({ hostnames: [], match: { path: { kind: 'exact', value: `/api/v1/service-${i}/items` }, ...bare } }),
  host: (i) => ({ hostnames: [`host-${i}.test`], match: { path: { kind: 'pathPrefix', value: '/' }, ...bare } }),
  wildcard: (i) => ({ hostnames: [`*.host-${i}.test`], match: { path: { kind: 'pathPrefix', value: '/' }, ...bare } }),
  header: (i) => ({
    hostnames: [],
    match: {
      path: { kind: 'pathPrefix', value: '/' },
      headers: [{ name: 'x-tenant', value: { kind: 'exact', value: `t${i}` } }],
      query: [],
    },
  }),
  regex: (i) => ({ hostnames: [], match: { path: { kind: 'regex', value: `/api/v[0-9]+/service-${i}/.*` }, ...bare } }),
};

for (const [name, shape] of Object.entries(shapes)) {
  const cells = [1, 1000, 10_000].map((count) => `${count} routes ${measure(shape, count).toFixed(0).padStart(8)} ns`);
  console.log(`${name.padEnd(9)} ${cells.join('   ')}`);
}

function measure(shape: Shape, count: number): number {
  const table = compileRouteTable(Array.from({ length: count }, (_, i) => ({ route: routeOf(shape, i), value: i })));
  const requests = Array.from({ length: 64 }, (_, i) =>
    requestFor(Math.floor((i * count) / 64), shape === shapes['wildcard']),
  );
  const deadline = performance.now() + 300;
  run(table, requests, 2000);
  let rounds = 0;
  const start = performance.now();
  while (performance.now() < deadline) {
    run(table, requests, 64);
    rounds += 64;
  }
  return ((performance.now() - start) * 1e6) / Math.max(1, rounds);
}

function run(table: ReturnType<typeof compileRouteTable>, requests: readonly RoutedRequest[], times: number): void {
  for (let i = 0; i < times; i++) {
    const request = requests[i % requests.length];
    if (request !== undefined && table.match(request) === null) throw new Error(`no route for ${request.target}`);
  }
}

function routeOf(shape: Shape, index: number): HttpRoute {
  const { hostnames, match } = shape(index);
  const base = { key: `r${index}`, name: `r${index}`, namespace: 'default', policies: {}, backends: [] };
  return { ...base, hostnames, matches: [match] };
}

/** Fits route `index` of every shape. */
function requestFor(index: number, wildcard: boolean): RoutedRequest {
  const copy = headers.clone();
  copy.set('x-tenant', `t${index}`);
  return {
    method: 'GET',
    scheme: 'http',
    authority: `${wildcard ? 'a.' : ''}host-${index}.test`,
    target: `/api/v1/service-${index}/items`,
    headers: copy,
  };
}
