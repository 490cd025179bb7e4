import { isMessage, toJson, type Message } from '@bufbuild/protobuf';
import { anyUnpack, DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { createRegistry } from '@bufbuild/protobuf';
import { SimpleTestSchema, type SimpleTest } from '@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js';
import type { ExprValue } from '@bufbuild/cel-spec/cel/expr/eval_pb.js';
import type { Type } from '@bufbuild/cel-spec/cel/expr/checked_pb.js';
import type { Value as SpecValue } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import { getTestRegistry } from '@bufbuild/cel-spec/testdata/registry.js';
import { getConformanceSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import { partsOf, type Expr } from '../../src/cel/syntax/ast.ts';
import { parse } from '../../src/cel/syntax/parser.ts';
import { BuiltMap } from '../../src/cel/value/map.ts';
import { canonical, uint } from '../../src/cel/value/number.ts';
import { Double, Duration, Timestamp, TypeName, type Value } from '../../src/cel/value/value.ts';

export interface ConformanceCase {
  readonly section: string;
  readonly name: string;
  readonly test: SimpleTest;
  /** Why the case is not run; null when it is. */
  readonly skipped: string | null;
}

const times = createRegistry(DurationSchema, TimestampSchema);

/** Every case of the public suite, in its order. */
export function conformanceCases(): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  for (const file of getConformanceSuite().suites) {
    for (const section of file.suites) {
      for (const { original } of section.tests) {
        if (original === undefined) continue;
        cases.push({
          section: `${file.name}/${section.name}`,
          name: original.name,
          test: original,
          skipped: reasonToSkip(original),
        });
      }
    }
  }
  return cases;
}

/** Expressions here have no protobuf message types, and no type checker. */
function reasonToSkip(test: SimpleTest): string | null {
  if (test.checkOnly) return 'only the type checker is asked';
  if (test.resultMatcher.case === 'unknown' || test.resultMatcher.case === 'anyUnknowns') return 'partial evaluation';
  if (namesMessages(test.expr)) return 'message types in the expression';
  const json = JSON.stringify(toJson(SimpleTestSchema, test, { registry: getTestRegistry() }));
  if (test.typeEnv.some((decl) => decl.declKind.case === 'ident' && isMessageType(decl.declKind.value.type))) {
    return 'message types of variables';
  }
  if (json.includes('"enumValue"')) return 'enumerations of protobuf';
  if (valuesOf(test).some(hasMessage)) return 'messages as values';
  return null;
}

const ENUMS = /\b(NestedEnum|GlobalEnum)\b/;
const MESSAGES =
  /cel\.expr\.conformance|TestAllTypes|NestedTestAllTypes|proto\.(getExt|hasExt)\(|google\.protobuf\.(?!Timestamp\b|Duration\b)[A-Z]/;

function namesMessages(source: string): boolean {
  if (ENUMS.test(source) || MESSAGES.test(source)) return true;
  try {
    return hasMessageLiteral(parse(source));
  } catch {
    return false;
  }
}

function hasMessageLiteral(expr: Expr): boolean {
  return expr.kind === 'message' || partsOf(expr).some(hasMessageLiteral);
}

/** Messages that the language has values for. */
const VALUES = ['google.protobuf.Duration', 'google.protobuf.Timestamp'];

function isMessageType(type: Type | undefined): boolean {
  if (type?.typeKind.case === 'messageType') return !VALUES.includes(type.typeKind.value);
  return type?.typeKind.case === 'wrapper';
}

function valuesOf(test: SimpleTest): readonly SpecValue[] {
  const bound = Object.values(test.bindings).flatMap((binding) => valueIn(binding));
  const { resultMatcher } = test;
  if (resultMatcher.case === 'value') return [...bound, resultMatcher.value];
  if (resultMatcher.case === 'typedResult' && resultMatcher.value.result !== undefined) {
    return [...bound, resultMatcher.value.result];
  }
  return bound;
}

export function valueIn(binding: ExprValue): readonly SpecValue[] {
  return binding.kind.case === 'value' ? [binding.kind.value] : [];
}

function hasMessage(value: SpecValue): boolean {
  switch (value.kind.case) {
    case 'objectValue':
      return anyUnpack(value.kind.value, times) === undefined;
    case 'listValue':
      return value.kind.value.values.some(hasMessage);
    case 'mapValue':
      return value.kind.value.entries.some((entry) => entry.value !== undefined && hasMessage(entry.value));
    default:
      return false;
  }
}

/** A value of the suite as expressions have it. */
export function fromSpec({ kind }: SpecValue): Value {
  switch (kind.case) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
      return kind.value;
    case 'bytesValue':
      return kind.value;
    case 'int64Value':
      return canonical(kind.value);
    case 'uint64Value':
      return uint(canonical(kind.value));
    case 'doubleValue':
      return new Double(kind.value);
    case 'typeValue':
      return new TypeName(kind.value);
    case 'listValue':
      return kind.value.values.map(fromSpec);
    case 'mapValue': {
      const map = new BuiltMap();
      for (const { key, value } of kind.value.entries) {
        if (key !== undefined && value !== undefined) map.put(fromSpec(key), fromSpec(value));
      }
      return map;
    }
    case 'objectValue':
      return fromMessage(anyUnpack(kind.value, times));
    default:
      throw new Error(`unexpected value ${kind.case ?? 'without a kind'}`);
  }
}

function fromMessage(message: Message | undefined): Value {
  if (isMessage(message, DurationSchema)) return new Duration(message.seconds * 1_000_000_000n + BigInt(message.nanos));
  if (isMessage(message, TimestampSchema))
    return new Timestamp(message.seconds * 1_000_000_000n + BigInt(message.nanos));
  throw new Error('unexpected message');
}
