import type { RequestState } from '../../src/admin/protocol/trace-event.ts';
import { CelError } from '../../src/cel/value/value.ts';
import { toJson } from '../../src/cel/value/json.ts';
import type { Host } from '../../src/cel/compile/host.ts';
import { pathOf, type HttpRequest, type HttpResponse } from '../exchange/message.ts';
import type { Headers } from '../exchange/headers.ts';
import type { Redaction } from '../telemetry/redaction.ts';
import type { EvalContext, Reads } from './contract.ts';

/** Variables that a trace shows in a form of their own, or that hold too much. */
const OWN_FORM = new Set(['request', 'response', 'env']);

/** For a trace: the variables that an expression reads, credentials redacted and bodies left out. */
export function stateFor(
  context: EvalContext,
  reads: Reads,
  how: { readonly host: Host<EvalContext>; readonly redaction: Redaction },
): RequestState {
  const { host, redaction } = how;
  const others: Record<string, unknown> = {};
  for (const name of reads.variables) {
    const value = OWN_FORM.has(name) ? null : (host.variable(name)?.read(context) ?? null);
    const json = value === null ? null : toJson(value);
    if (json !== null && !(json instanceof CelError)) others[name] = json;
  }
  const { request, response } = context;
  return {
    ...others,
    ...(request !== null && reads.variables.has('request') ? { request: requestPart(request, redaction) } : {}),
    ...(response !== null && reads.variables.has('response') ? { response: responsePart(response, redaction) } : {}),
  };
}

function requestPart(request: HttpRequest, redaction: Redaction): NonNullable<RequestState['request']> {
  const target = redaction.target(request.target);
  return {
    method: request.method,
    host: request.authority,
    scheme: request.scheme,
    path: pathOf(target),
    pathAndQuery: target,
    headers: headersPart(request.headers, redaction),
  };
}

function responsePart(response: HttpResponse, redaction: Redaction): NonNullable<RequestState['response']> {
  return { code: response.status, headers: headersPart(response.headers, redaction) };
}

function headersPart(headers: Headers, redaction: Redaction): Readonly<Record<string, readonly string[]>> {
  const shown = new Map<string, string[]>();
  for (const [name, value] of headers) shown.set(name, [...(shown.get(name) ?? []), redaction.header(name, value)]);
  return Object.fromEntries(shown);
}
