import { GwError } from '../../shared/errors.ts';
import { asObject, asText } from '../protocol/lenient.ts';
import type { TraceEvent } from '../protocol/trace-event.ts';

/** What a trace is expected to show; parts that are undefined are not checked. */
export interface Expectations {
  /** `200`, `2xx`, or several with commas. */
  readonly status?: string | undefined;
  /** Key of a route, or the end of one behind a `/`; `none` for no route. */
  readonly route?: string | undefined;
  /** Target of the last call to a backend; `none` for no call. */
  readonly backend?: string | undefined;
  /** Kinds of policies that must have been applied. */
  readonly policies?: readonly string[] | undefined;
  /** Milliseconds that the whole request may take. */
  readonly maxDurationMs?: number | undefined;
}

export interface Failure {
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
  /** What explains the difference, one line each. */
  readonly because: readonly string[];
}

export function hasExpectations(expected: Expectations): boolean {
  return Object.values(expected).some((value) => value !== undefined);
}

/** Compares one request's events with what was expected of it. */
export function checkExpectations(events: readonly TraceEvent[], expected: Expectations): readonly Failure[] {
  const own = events.filter((event) => (event.scope ?? []).every((name) => name === 'http'));
  return [
    ...checkStatus(own, expected.status),
    ...checkRoute(own, expected.route),
    ...checkBackend(own, expected.backend),
    ...checkPolicies(own, expected.policies ?? []),
    ...checkDuration(own, expected.maxDurationMs),
  ];
}

function checkStatus(events: readonly TraceEvent[], expected: string | undefined): Failure[] {
  if (expected === undefined) return [];
  const finish = events.findLast((event) => event.message.type === 'requestFinished')?.message;
  const status = finish?.type === 'requestFinished' ? finish.status : null;
  const actual = status === null ? 'no status' : String(status);
  const met = expected
    .split(',')
    .some((pattern) => new RegExp(`^${pattern.trim().replaceAll(/x/gi, '\\d')}$`).test(actual));
  if (met) return [];
  const errors = events.filter((event) => event.severity === 'error').flatMap((event) => errorText(event));
  return [{ what: 'status', expected, actual, because: errors }];
}

function errorText(event: TraceEvent): readonly string[] {
  const message = event.message;
  if (message.type === 'requestFinished' || message.type === 'backendCallResult')
    return message.error === null ? [] : [message.error];
  if (message.type === 'policy') {
    const { result } = message;
    return [`${message.kind}: ${result.type === 'skip' ? result.reason : result.details}`];
  }
  return [];
}

function checkRoute(events: readonly TraceEvent[], expected: string | undefined): Failure[] {
  if (expected === undefined) return [];
  const selection = events.findLast((event) => event.message.type === 'routeSelection')?.message;
  const selected = selection?.type === 'routeSelection' ? selection.selectedRoute : null;
  const met =
    expected === 'none' ? selected === null : selected === expected || selected?.endsWith(`/${expected}`) === true;
  if (met) return [];
  const rejected = selection?.type === 'routeSelection' ? (selection.rejectedRoutes ?? []) : [];
  const because = rejected.map(({ route, failed, expected: wanted, actual }) =>
    failed === 'precedence'
      ? `${route} matches too, but comes second`
      : `${route}: ${failed}: expected ${wanted}, got ${actual ?? 'nothing'}`,
  );
  return [{ what: 'route', expected, actual: selected ?? 'none', because }];
}

function checkBackend(events: readonly TraceEvent[], expected: string | undefined): Failure[] {
  if (expected === undefined) return [];
  const call = events.findLast((event) => event.message.type === 'backendCallStart')?.message;
  const actual = call?.type === 'backendCallStart' ? call.target : 'none';
  return actual === expected ? [] : [{ what: 'backend', expected, actual, because: [] }];
}

function checkPolicies(events: readonly TraceEvent[], expected: readonly string[]): Failure[] {
  const applied = new Set(
    events.flatMap(({ message }) =>
      message.type === 'policy' && message.result.type === 'apply' ? [message.kind] : [],
    ),
  );
  const actual = [...applied].join(', ') || 'none';
  return expected
    .filter((kind) => !applied.has(kind))
    .map((kind) => ({ what: 'applied policy', expected: kind, actual, because: [] }));
}

function checkDuration(events: readonly TraceEvent[], maxDurationMs: number | undefined): Failure[] {
  const actualMs = Math.max(0, ...events.map((event) => event.eventEnd)) / 1000;
  if (maxDurationMs === undefined || actualMs <= maxDurationMs) return [];
  return [{ what: 'duration', expected: `at most ${maxDurationMs}ms`, actual: `${actualMs}ms`, because: [] }];
}

/** The failures as one error, in the form of a difference. */
export function expectationError(failures: readonly Failure[]): GwError {
  const lines = failures.flatMap(({ what, expected, actual, because }) => [
    what,
    `- expected ${expected}`,
    `+ actual   ${actual}`,
    ...because.map((reason) => `  because  ${reason}`),
  ]);
  const count = failures.length === 1 ? 'an expectation was' : `${failures.length} expectations were`;
  return new GwError(`${count} not met\n${lines.join('\n')}`, { code: 'GW_EXPECTATION' });
}

/** The local port of the client that a trace belongs to, when its first snapshot tells. */
export function clientPortOf(event: TraceEvent): number | undefined {
  const message = event.message;
  if (message.type !== 'requestSnapshot') return undefined;
  const source = asObject(message.requestState.source);
  const port = Number(asText(source['rawPort']) ?? asText(source['port']));
  return Number.isInteger(port) && port > 0 ? port : undefined;
}
