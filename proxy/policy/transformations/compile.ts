import type { Transformation, Transformations } from '../../../src/config/ir/policy/transformations.ts';
import { emptyBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { HttpRequest, HttpResponse } from '../../exchange/message.ts';
import type { Expression } from '../../expression/contract.ts';
import { compileChoice } from '../conditional.ts';
import type { Phase, PolicyContext, RequestStep, ResponseStep } from '../contract.ts';
import { next } from '../contract.ts';
import { setRequestPart } from '../request-line.ts';
import { before, describeChanges } from './changes.ts';
import { compileTransform, type SetPart, type Transform } from './transform.ts';

const KIND = 'transformation';

/** Changes the request, and chooses for the response. Throws a `GwError` for what cannot be compiled. */
export function transformRequest(spec: Transformations, context: PolicyContext): RequestStep {
  const choice = chooserOf(spec, context, ({ request }, where) =>
    request === undefined
      ? null
      : compiled(request, { where: `${where} request`, context, setPart: setterOf(context.phase) }),
  );
  return (exchange) => {
    const transform = choice.choose(exchange);
    if (transform === null) return next;
    const { request, trace } = exchange;
    if (trace === null) {
      transform(exchange, request);
      return next;
    }
    const was = before(exchange, request, requestParts(request));
    transform(exchange, request);
    const changes = describeChanges(exchange, was, { ...request, parts: requestParts(request) });
    trace.applied(KIND, `request: ${changes} (from ${context.source})`);
    return next;
  };
}

/** Changes the response as was chosen on the request; a request that never came that far has chosen nothing. */
export function transformResponse(spec: Transformations, context: PolicyContext): ResponseStep | null {
  if (spec.entries.every(({ settings }) => settings.response === undefined)) return null;
  const choice = chooserOf(spec, context, ({ response }, where) =>
    response === undefined ? null : compiled(response, { where: `${where} response`, context, setPart: setOfResponse }),
  );
  return (exchange, response) => {
    const transform = choice.chosen(exchange);
    if (transform !== null) changeResponse(exchange, response, { transform, source: context.source });
    return null;
  };
}

function chooserOf<M>(
  spec: Transformations,
  context: PolicyContext,
  compile: (settings: Transformations['entries'][number]['settings'], where: string) => M | null,
) {
  const place = { policy: 'transformations', kind: KIND, context, sides: 'both' } as const;
  return compileChoice(spec, place, (settings, index) =>
    compile(settings, spec.entries.length === 1 ? 'transformations' : `transformations conditional[${index}]`),
  );
}

function compiled<M extends HttpRequest | HttpResponse>(
  spec: Transformation,
  place: { where: string; context: PolicyContext; setPart: SetPart<M> },
): Transform<M> {
  return compileTransform(spec, place);
}

/** In the gateway phase an authority is what routes are chosen by; later it is what the upstream gets. */
function setterOf(phase: Phase): SetPart<HttpRequest> {
  return (request, name, value, exchange) => {
    const text = value.headerText(exchange);
    if (text === null || !setRequestPart(request, name, text)) return;
    if (phase !== 'gateway' && (name === 'host' || name === ':authority')) exchange.authorityDecided = true;
  };
}

/** The status of a response that ends the exchange; anything else is left. A response has no `host`. */
function setOfResponse(response: HttpResponse, name: string, value: Expression, exchange: Exchange): void {
  if (name !== ':status') return;
  const status = value.integer(exchange);
  if (status !== null && status >= 200 && status <= 599) response.status = status;
}

interface Changing {
  readonly transform: Transform<HttpResponse>;
  readonly source: string;
}

function changeResponse(exchange: Exchange, response: HttpResponse, { transform, source }: Changing): void {
  const { trace } = exchange;
  const was = trace === null ? null : before(exchange, response, responseParts(response));
  transform(exchange, response);
  if (hasNoContent(response.status) && response.body.length !== 0) {
    response.body.cancel();
    response.body = emptyBody;
    response.headers.remove('content-length');
  }
  if (trace === null || was === null) return;
  const changes = describeChanges(exchange, was, { ...response, parts: responseParts(response) });
  trace.applied(KIND, `response: ${changes} (from ${source})`);
}

/** RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5. */
function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function requestParts({ method, scheme, authority, target }: HttpRequest): (readonly [string, string])[] {
  return [
    [':method', method],
    [':scheme', scheme],
    [':authority', authority],
    [':path', target],
  ];
}

function responseParts({ status }: HttpResponse): (readonly [string, string])[] {
  return [[':status', String(status)]];
}
