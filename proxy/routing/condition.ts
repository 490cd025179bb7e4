import type { RouteMatch, ValueMatch } from '../../src/config/ir/index.ts';
import { GwError, messageOf } from '../../src/shared/errors.ts';
import { lateLibrary } from '../../src/shared/late-library.ts';
import type { RoutedRequest } from './facts.ts';
import { queryParameters } from './facts.ts';

/** Compares one whole value. */
export type ValueTest = (value: string) => boolean;

export interface NamedTest {
  readonly name: string;
  readonly test: ValueTest;
  /** As configured, for explanations. */
  readonly match: ValueMatch;
}

/** The parts of a route match beside host and path, ready to run. */
export interface Conditions {
  /** For a regex path; the other kinds are found through the bucket's index. */
  readonly pathRegex: ValueTest | null;
  readonly method: string | null;
  readonly headers: readonly NamedTest[];
  readonly query: readonly NamedTest[];
}

/** Compiles a pattern that has to cover its whole input: RE2 syntax, linear time. Throws `GW_ROUTE_REGEX`. */
export function compileWholeRegex(pattern: string, owner: string): ValueTest {
  try {
    const regex = lateLibrary('re2js').RE2JS.compile(pattern);
    return (value) => regex.testExact(value);
  } catch (cause) {
    throw new GwError(`${owner}: invalid regular expression ${JSON.stringify(pattern)}: ${messageOf(cause)}`, {
      code: 'GW_ROUTE_REGEX',
      hint: 'expressions use RE2 syntax: no look-around and no back-references',
      cause,
    });
  }
}

export function compileConditions(match: RouteMatch, owner: string): Conditions {
  return {
    pathRegex: match.path.kind === 'regex' ? compileWholeRegex(match.path.value, owner) : null,
    method: match.method ?? null,
    headers: match.headers.map((header) => namedTest(header, header.name.toLowerCase(), owner)),
    query: match.query.map((parameter) => namedTest(parameter, parameter.name, owner)),
  };
}

/** The query of the request at hand, parsed when the first condition asks and then kept. */
export class LazyQuery {
  #target = '';
  #parameters: URLSearchParams | null = null;

  reset(target: string): void {
    this.#target = target;
    this.#parameters = null;
  }

  /** The last of repeated parameters. */
  get(name: string): string | undefined {
    this.#parameters ??= queryParameters(this.#target);
    return this.#parameters.getAll(name).at(-1);
  }
}

/** Whether method, headers and query hold. */
export function conditionsHold(conditions: Conditions, request: RoutedRequest, query: LazyQuery): boolean {
  if (conditions.method !== null && conditions.method !== request.method) return false;
  const { headers, query: parameters } = conditions;
  for (let i = 0; i < headers.length; i++) {
    const header = headers[i];
    if (header !== undefined && !headerHolds(header, request)) return false;
  }
  for (let i = 0; i < parameters.length; i++) {
    const parameter = parameters[i];
    if (parameter !== undefined && !queryHolds(parameter, query)) return false;
  }
  return true;
}

/** One of repeated values is enough; values are not split at commas. */
export function headerHolds(header: NamedTest, request: RoutedRequest): boolean {
  const pseudo = pseudoHeader(header.name, request);
  if (pseudo !== undefined) return pseudo !== null && header.test(pseudo);
  const { names, values } = request.headers;
  for (let i = names.indexOf(header.name); i !== -1; i = names.indexOf(header.name, i + 1)) {
    if (header.test(values[i] ?? '')) return true;
  }
  return false;
}

export function queryHolds(parameter: NamedTest, query: LazyQuery): boolean {
  const value = query.get(parameter.name);
  return value !== undefined && parameter.test(value);
}

/** The value of a pseudo-header, null for one that a request does not have, undefined for a real header. */
export function pseudoHeader(name: string, request: RoutedRequest): string | null | undefined {
  if (name.charCodeAt(0) !== 58 && name !== 'host') return undefined;
  switch (name) {
    case ':method':
      return request.method;
    case ':scheme':
      return request.scheme;
    case ':path':
      return request.target;
    case ':authority':
    case 'host':
      return request.authority;
    default:
      return null;
  }
}

function namedTest(match: ValueMatch, name: string, owner: string): NamedTest {
  const expected = match.value.value;
  const test =
    match.value.kind === 'exact' ? (value: string) => value === expected : compileWholeRegex(expected, owner);
  return { name, test, match };
}
