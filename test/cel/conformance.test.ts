import { describe, expect, test } from '@jest/globals';
import { CustomFunctions } from '../../src/cel/compile/custom.ts';
import type { Host, Variable } from '../../src/cel/compile/host.ts';
import { library } from '../../src/cel/library/library.ts';
import { Program } from '../../src/cel/program.ts';
import {
  CelError,
  isBytes,
  isList,
  isMap,
  Optional,
  typeName,
  type Result,
  type Value,
} from '../../src/cel/value/value.ts';
import { CelSyntaxError } from '../../src/cel/syntax/syntax-error.ts';
import { conformanceCases, fromSpec, valueIn, type ConformanceCase } from './conformance-cases.ts';

const functions = library({ random: () => 0.5, uuid: () => '' });
const cases = conformanceCases();
const runnable = cases.filter((one) => one.skipped === null);
const sections = Map.groupBy(runnable, (one) => one.section);

/** The value of the case's expression; syntax errors and failures alike are failures. */
function evaluate({ test: { expr, bindings, container } }: ConformanceCase): Result {
  const values = new Map(
    Object.entries(bindings).flatMap(([name, b]) => valueIn(b).map((v) => [name, fromSpec(v)] as const)),
  );
  const variables = new Map(
    [...values].map(([name, value]): [string, Variable<null>] => [name, { read: () => value }]),
  );
  const host: Host<null> = { variable: (name) => variables.get(name), variables: [...variables.keys()], container };
  try {
    const options = { host, functions, custom: new CustomFunctions(), bodies: new Map() };
    return Program.compile(expr, options).evaluate(null);
  } catch (error) {
    if (error instanceof CelSyntaxError) return new CelError('failed', error.message);
    throw error;
  }
}

/** All failures are one. */
function outcome(value: Result): unknown {
  return value instanceof CelError ? 'failed' : shown(value);
}

function outcomeWanted(matcher: ConformanceCase['test']['resultMatcher']): unknown {
  if (matcher.case === 'evalError' || matcher.case === 'anyEvalErrors') return 'failed';
  const wanted =
    matcher.case === 'value' ? matcher.value : matcher.case === 'typedResult' ? matcher.value.result : undefined;
  return wanted === undefined ? 'bool true' : shown(fromSpec(wanted));
}

/** Types count: 1, 1u and 1.0 are three values. */
function shown(value: Value): unknown {
  if (isList(value)) return value.map(shown);
  if (isBytes(value)) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (isMap(value))
    return {
      map: value
        .keys()
        .map((key) => [shown(key), shown(value.get(key) ?? null)])
        .sort(),
    };
  if (value instanceof Optional) return { optional: value.value === undefined ? 'none' : shown(value.value) };
  return `${typeName(value)} ${scalar(value)}`;
}

function scalar(value: Value): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if ('value' in value) return Object.is(value.value, -0) ? '0' : String(value.value);
  if ('nanos' in value) return String(value.nanos);
  return 'name' in value ? value.name : '';
}

describe.each([...sections])('%s', (_, inSection) => {
  test.each(inSection.map((one) => [`${one.name}: ${one.test.expr}`, one] as const))('%s', (_name, one) => {
    const { resultMatcher } = one.test;
    const value = evaluate(one);
    expect(outcome(value)).toEqual(outcomeWanted(resultMatcher));
  });
});

test('counts what runs and what does not, by reason', () => {
  const reasons = Map.groupBy(cases, (one) => one.skipped ?? 'run');
  const counts = Object.fromEntries([...reasons].map(([reason, list]) => [reason, list.length]));
  expect(counts).toEqual({
    run: 1637,
    'message types in the expression': 637,
    'message types of variables': 43,
    'only the type checker is asked': 25,
    'enumerations of protobuf': 2,
  });
});
