import type { DirectAnswer, DirectResponse } from '../../../src/config/ir/policy/direct-response.ts';
import { type Body, BufferedBody, emptyBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import { refuse } from '../../exchange/refusal.ts';
import type { Expression } from '../../expression/contract.ts';
import { compileChoice } from '../conditional.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { mayChange } from '../header-changes.ts';
import { invalidPolicy } from '../invalid-policy.ts';

const KIND = 'direct_response';
const POLICY = 'directResponse';

/** Answers instead of a backend. Throws `GW_POLICY_INVALID` for what is not a final status. */
export function directResponse(spec: DirectResponse, context: PolicyContext): RequestStep {
  const place = { policy: POLICY, kind: KIND, context, sides: 'request' } as const;
  const choice = compileChoice(spec, place, (answer, index) => {
    const where = spec.entries.length === 1 ? POLICY : `${POLICY} conditional[${index}]`;
    return compileAnswer(answer, where, context);
  });
  return (exchange) => choice.choose(exchange)?.(exchange) ?? next;
}

function compileAnswer(spec: DirectAnswer, where: string, context: PolicyContext): (exchange: Exchange) => Outcome {
  const { status } = spec;
  const { source, deps } = context;
  if (!Number.isInteger(status) || status < 200 || status > 999)
    throw invalidPolicy(source, POLICY, `${status} is not the status of an answer`);
  const headers = spec.headers.map(([name, expression]) => {
    if (!mayChange(name.toLowerCase()))
      throw invalidPolicy(source, POLICY, `${name} belongs to the connection and cannot be set`);
    return [name, deps.expressions.compile(expression, `${where} header ${name}`)] as const;
  });
  const bodyOf = compileBody(spec, where, context);
  return (exchange) => {
    const body = bodyOf(exchange);
    if (body === null) return noBody(exchange, source);
    if (exchange.trace !== null) exchange.trace.applied(KIND, `${status} with ${body.length} bytes (from ${source})`);
    const response = { status, headers: headersOf(headers, exchange), body };
    return { kind: 'respond', response, policy: POLICY };
  };
}

/** Null when the expression of the body fails. */
function compileBody(
  { status, body }: DirectAnswer,
  where: string,
  { deps }: PolicyContext,
): (exchange: Exchange) => Body | null {
  // RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5: these have no content.
  if (status === 204 || status === 205 || status === 304) return () => emptyBody;
  if (body.kind === 'bytes') {
    const fixed = bufferOf(body.bytes);
    return () => fixed;
  }
  const expression = deps.expressions.compile(body.expression, `${where} bodyExpression`);
  return (exchange) => {
    const bytes = expression.body(exchange);
    return bytes === null ? null : bufferOf(bytes);
  };
}

function bufferOf(bytes: Uint8Array): Body {
  return bytes.byteLength === 0 ? emptyBody : new BufferedBody(bytes);
}

/** What has no value is left out. */
function headersOf(headers: readonly (readonly [string, Expression])[], exchange: Exchange): Headers {
  const made = new Headers();
  for (const [name, value] of headers) {
    const text = value.headerText(exchange);
    if (text !== null) made.append(name, text);
  }
  return made;
}

function noBody(exchange: Exchange, source: string): Outcome {
  if (exchange.trace !== null)
    exchange.trace.applied(KIND, `the expression of the body gives none (from ${source})`, 'error');
  return { kind: 'fail', refusal: refuse(500, 'Internal', 'failed to apply filters: the direct response has no body') };
}
