import type { ExtProc } from '../../../src/config/ir/policy/ext-proc.ts';
import type { Log } from '../../../src/shared/log.ts';
import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { Headers } from '../../exchange/headers.ts';
import type { EvalContext, Expression } from '../../expression/contract.ts';
import type { ServiceClient } from '../../services/contract.ts';
import { processMethod } from '../../services/messages/process.ts';
import type { Clock } from '../../exchange/wait.ts';
import type { PolicyContext } from '../contract.ts';

type Named = readonly (readonly [name: string, expression: Expression])[];

/** One set of settings, compiled for the request side. */
export interface Settings {
  readonly spec: ExtProc;
  readonly source: string;
  readonly client: ServiceClient;
  /** What is held of a body. */
  readonly maxBufferBytes: number;
  readonly initialMetadata: Named;
  readonly metadataContext: readonly (readonly [namespace: string, values: Named])[];
  readonly requestAttributes: Named;
  readonly clock: Clock;
  readonly log: Log;
}

/** Throws a `GwError` for what cannot be compiled. */
export function compileSettings(spec: ExtProc, where: string, { deps, source }: PolicyContext): Settings {
  const client = deps.services.open(spec.service, 'ExtProc');
  processMethod.prepare();
  const named = (sources: Readonly<Record<string, string>>, part: string): Named =>
    compileNamed(sources, `${where} ${part}`, deps);
  return {
    spec,
    source,
    client,
    maxBufferBytes: deps.maxBufferSize,
    initialMetadata: named(spec.initialMetadata, 'initial metadata'),
    metadataContext: Object.entries(spec.metadataContext).map(
      ([namespace, values]) => [namespace, named(values, `metadataContext.${namespace}`)] as const,
    ),
    requestAttributes: named(spec.requestAttributes, 'requestAttributes'),
    clock: deps.clock,
    log: deps.log.scope('ext_proc'),
  };
}

export function compileNamed(
  sources: Readonly<Record<string, string>>,
  where: string,
  { expressions }: Pick<PolicyContext['deps'], 'expressions'>,
): Named {
  return Object.entries(sources).map(
    ([name, source]) => [name, expressions.compile(source, `${where}.${name}`)] as const,
  );
}

/** The values of expressions; what fails is left out, and told. */
export function evaluated(named: Named, context: EvalContext, log: Log): JsonObject {
  const values: [string, JsonValue][] = [];
  for (const [name, expression] of named) {
    const value = expression.json(context);
    if (value === undefined)
      log.warn('an expression failed: its value is left out', { name, expression: expression.source });
    else values.push([name, value]);
  }
  return Object.fromEntries(values);
}

const METADATA_TEXT = /^[\u0020-\u007e]*$/;

/** Initial metadata: texts, numbers and booleans; anything else is left out. */
export function metadataHeaders(named: Named, context: EvalContext, log: Log): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(evaluated(named, context, log))) {
    const text = typeof value === 'object' ? null : String(value);
    if (text !== null && METADATA_TEXT.test(text)) headers.append(name, text);
    else log.warn('a value cannot be metadata of gRPC: it is left out', { name });
  }
  return headers;
}
