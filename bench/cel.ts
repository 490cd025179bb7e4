/** Time of one evaluation of an expression here and in other implementations: `npm run bench -- --case cel`. */
import { celEnv, parse as parseBufbuild, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { Environment } from '@marcbachmann/cel-js';
import { Attributes } from '../proxy/exchange/attributes.ts';
import { emptyBody } from '../proxy/exchange/body.ts';
import { Headers } from '../proxy/exchange/headers.ts';
import type { EvalContext } from '../proxy/expression/contract.ts';
import { createExpressions } from '../proxy/expression/expressions.ts';
import { Secret } from '../src/shared/secret.ts';
import type { Pace } from './measure.ts';
import type { Target } from './report.ts';

export interface CelMeasurement {
  readonly expression: string;
  /** Median nanoseconds of one evaluation, by implementation; null where it can't evaluate the expression. */
  readonly nanoseconds: Readonly<Record<string, number | null>>;
}

const EXPRESSIONS = [
  'request.headers["x-team"] == "red" && jwt.sub == "alice" && request.path.startsWith("/v1/")',
  'request.method == "GET" || request.method == "HEAD"',
  '"admin" in jwt.groups',
  'jwt.groups.exists(g, g.startsWith("team-"))',
  'jwt.level >= 3 && jwt.level + 2 < 10',
  'request.path.matches("^/v[0-9]+/items/")',
  'request.method in ["GET", "HEAD", "OPTIONS"]',
  'has(jwt.email) ? jwt.email : jwt.sub + "@example.com"',
];

const claims = { sub: 'alice', iss: 'https://issuer.example', level: 4, groups: ['users', 'team-red', 'admin'] };
const headers = {
  accept: '*/*',
  'user-agent': 'bench',
  'x-team': 'red',
  'x-request-id': '0b9dbf6b-6a2b-4c58-9d4b-5f1d2f7f8e6e',
};

/** What the other implementations evaluate over: objects that are made already. */
const plainContext = {
  request: { method: 'GET', path: '/v1/items/42', headers },
  jwt: { ...claims, level: 4n },
};

export async function measureCel(pace: Pace): Promise<readonly CelMeasurement[]> {
  return EXPRESSIONS.map((expression) => {
    const runners = {
      gwctl: ownRunner(expression),
      'cel-js': celJsRunner(expression),
      bufbuild: bufbuildRunner(expression),
    };
    const times = Object.entries(runners).map(([name, run]) => [name, [] as number[], checked(run)] as const);
    for (let round = 0; round < pace.rounds; round++) {
      for (const [, list, run] of times) if (run !== null) list.push(nanosecondsOf(run, pace.seconds * 100));
    }
    return { expression, nanoseconds: Object.fromEntries(times.map(([name, list]) => [name, median(list)])) };
  });
}

type Run = () => unknown;

function ownRunner(expression: string): Run {
  const compiled = createExpressions().compile(expression, 'bench');
  const attributes = new Attributes();
  attributes.jwt = { claims, rawToken: new Secret('') };
  const context: EvalContext = {
    attributes,
    connection: {
      id: 1,
      bind: 'bind/8080',
      bindPort: 8080,
      sourceAddress: '127.0.0.1',
      sourcePort: 40_000,
      rawAddress: '127.0.0.1',
      rawPort: 40_000,
      destinationAddress: '127.0.0.1',
      destinationPort: 8080,
      tls: null,
    },
    request: {
      method: 'GET',
      scheme: 'http',
      authority: 'bench.example',
      target: '/v1/items/42?page=2',
      version: 'HTTP/1.1',
      headers: Headers.from(Object.entries(headers)),
      body: emptyBody,
      upgrade: null,
    },
    response: null,
    progress: null,
    trace: null,
  };
  return () => compiled.value(context);
}

function celJsRunner(expression: string): Run {
  const environment = new Environment({ unlistedVariablesAreDyn: true });
  const evaluate = environment.parse(expression);
  return () => evaluate(plainContext);
}

function bufbuildRunner(expression: string): Run {
  const environment = celEnv({ funcs: strings });
  const evaluate = plan(environment, parseBufbuild(expression));
  return () => evaluate(plainContext);
}

/** Null for an implementation that fails. */
function checked(run: Run): Run | null {
  try {
    const value = run();
    return value instanceof Error || value === undefined ? null : run;
  } catch {
    return null;
  }
}

function nanosecondsOf(run: Run, ms: number): number {
  for (let i = 0; i < 20_000; i++) run();
  let count = 0;
  const start = performance.now();
  let now = start;
  while (now - start < ms) {
    for (let i = 0; i < 1000; i++) run();
    count += 1000;
    now = performance.now();
  }
  return ((now - start) * 1e6) / count;
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

export function celTable(results: readonly CelMeasurement[]): string {
  const names = Object.keys(results[0]?.nanoseconds ?? {});
  const lines = results.map(({ expression, nanoseconds }) => {
    const cells = names.map((name) => nanoseconds[name]?.toFixed(0).padStart(9) ?? '        –');
    return `${cells.join(' ')}  ${expression}`;
  });
  return [`expressions, nanoseconds of one evaluation`, names.map((name) => name.padStart(9)).join(' '), ...lines].join(
    '\n',
  );
}

/** The faster of the others is what every expression has to reach. */
export function celTargets(results: readonly CelMeasurement[]): readonly Target[] {
  const ratios = results.flatMap(({ nanoseconds: { gwctl, ...others } }) => {
    const fastest = Math.min(...Object.values(others).filter((time) => time !== null));
    return gwctl === null || gwctl === undefined || !Number.isFinite(fastest) ? [] : [gwctl / fastest];
  });
  const reached = ratios.length === 0 ? undefined : Math.max(...ratios);
  return [{ target: 'expressions: the slowest against the fastest other implementation', limit: 1, reached }];
}
