import type { ExtAuthz, ExtAuthzHttp } from '../../../src/config/ir/policy/ext-authz.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import { BufferedBody } from '../../exchange/body.ts';
import { Headers } from '../../exchange/headers.ts';
import { stripResponseHopByHop } from '../../exchange/hop-by-hop.ts';
import type { EvalContext, Expression } from '../../expression/contract.ts';
import type { ServiceResponse } from '../../services/contract.ts';
import type { PolicyDeps } from '../contract.ts';
import type { HeaderChange } from '../header-changes.ts';
import { mayChange } from '../header-changes.ts';
import { type Decision, plainDenial, redirectTo, uncached, wordedDenial } from './decision.ts';
import { compileCheck } from './http-request.ts';
import type { Ask } from './question.ts';

/** The policies of the connection may say something else. */
const DEFAULT_TIMEOUT_MS = 2000;
/** Answers are held in memory, and denials are passed on. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const ALLOWED = 200;

/** Asks by an HTTP request that looks like the client's. Throws a `GwError` for what can't be compiled. */
export function askByHttp(spec: ExtAuthz, protocol: ExtAuthzHttp, deps: PolicyDeps): Ask {
  const client = deps.services.open(spec.service, 'ExtAuthz');
  const limits = { timeoutMs: DEFAULT_TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES };
  const check = compileCheck(spec, protocol, deps.expressions);
  const reading = compileReading(protocol, deps);
  return async (question, call) => {
    const request = check(question);
    if (request === null) return { decision: uncached(plainDenial()), context: question.context };
    const response = await client.http(request, { ...limits, ...call });
    const context = answerContext(question.context, response);
    return { decision: decide(response, reading, context), context };
  };
}

/** What is read out of answers. */
interface Reading {
  readonly copied: readonly string[];
  readonly redirect: Expression | null;
  readonly metadata: readonly (readonly [name: string, value: Expression])[];
}

function compileReading(protocol: ExtAuthzHttp, { expressions }: PolicyDeps): Reading {
  const where = 'extAuthz protocol.http';
  const { redirect, metadata, includeResponseHeaders } = protocol;
  return {
    copied: includeResponseHeaders.filter(mayChange),
    redirect: redirect === undefined ? null : expressions.compile(redirect, `${where}.redirect`, 'serviceAnswer'),
    metadata: Object.entries(metadata).map(
      ([name, source]) => [name, expressions.compile(source, `${where}.metadata.${name}`, 'serviceAnswer')] as const,
    ),
  };
}

/** Expressions about the answer see it as `response`; everything else is as it was. */
function answerContext(context: EvalContext, { status, headers, body }: ServiceResponse): EvalContext {
  const { connection, request, attributes, progress, trace } = context;
  const response = { status, headers, body: new BufferedBody(body) };
  return { connection, request, response, attributes, progress, trace };
}

function decide(response: ServiceResponse, reading: Reading, context: EvalContext): Decision {
  const { status } = response;
  const metadata = metadataOf(reading, context);
  if (status === ALLOWED) {
    const changes = {
      removeHeaders: [],
      headers: reading.copied.flatMap((name) => copies(response.headers, name)),
      removeParameters: [],
      setParameters: [],
    };
    return { kind: 'allowed', changes, responseHeaders: [], metadata };
  }
  const unauthorized = status === 401 || status === 403;
  if (unauthorized && reading.redirect !== null) {
    const location = reading.redirect.headerText(context) ?? '';
    return location === '' ? uncached(plainDenial(403, metadata)) : redirectTo(location, metadata);
  }
  // Passed on, these would look as if the backend had answered.
  if (status < 300) return uncached(plainDenial(403, metadata));
  return wordedDenial(
    { status, headers: passedOn(response.headers), body: response.body },
    {
      cacheable: unauthorized,
      metadata,
    },
  );
}

function metadataOf({ metadata }: Reading, context: EvalContext): JsonObject | null {
  if (metadata.length === 0) return null;
  return Object.fromEntries(
    metadata.flatMap(([name, expression]) => {
      const value = expression.json(context);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** All values of the answer in the place of those of the request. */
function copies(headers: Headers, name: string): HeaderChange[] {
  return headers
    .getAll(name)
    .map((value, index) => ({ name, value, action: index === 0 ? 'overwrite' : 'append' }) as const);
}

function passedOn(headers: Headers): Headers {
  const copy = headers.clone();
  stripResponseHopByHop(copy);
  copy.remove('content-length');
  return copy;
}
