import type { RequestState } from '../../src/admin/protocol/trace-event.ts';
import { formatTime } from '../../src/shared/log.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Headers } from '../exchange/headers.ts';
import { pathOf, splitAuthority, type HttpResponse } from '../exchange/message.ts';
import type { LentCredentials } from '../exchange/lent-credentials.ts';
import { REDACTED } from '../../src/shared/secret.ts';
import type { Redaction } from './redaction.ts';

/** What is known beyond the exchange itself. */
export interface StateContext {
  readonly redaction: Redaction;
  readonly response?: Pick<HttpResponse, 'status' | 'headers'> | undefined;
  readonly proxy?: RequestState['proxy'] | undefined;
  readonly backend?: RequestState['backend'] | undefined;
}

/** The moment's state of a request for a trace, credentials redacted; parts that do not exist yet are left out. */
export function requestState(exchange: Exchange, context: StateContext): RequestState {
  const { redaction, response } = context;
  return {
    request: requestPart(exchange, redaction),
    ...(response === undefined ? {} : { response: responsePart(response, redaction) }),
    ...(context.proxy === undefined ? {} : { proxy: context.proxy }),
    source: sourcePart(exchange.connection),
    destination: {
      address: exchange.connection.destinationAddress,
      port: exchange.connection.destinationPort,
    },
    ...(context.backend === undefined ? {} : { backend: context.backend }),
  };
}

/** Seconds as text (`0.0016s`), as the durations of a state are written. */
export function secondsText(ms: number): string {
  return `${Number((ms / 1000).toFixed(6))}s`;
}

function requestPart(exchange: Exchange, redaction: Redaction): NonNullable<RequestState['request']> {
  const { request, lent } = exchange;
  const target = redaction.target(request.target, lent?.parameters);
  const absolute =
    request.authority === '' || target === '*' ? target : `${request.scheme}://${request.authority}${target}`;
  return {
    method: request.method,
    uri: absolute,
    path: pathOf(target),
    pathAndQuery: target,
    host: splitAuthority(request.authority).host,
    scheme: request.scheme,
    version: request.version,
    headers: headersPart(request.headers, redaction, lent),
    startTime: formatTime(performance.timeOrigin + exchange.startedAt),
  };
}

function responsePart(
  response: Pick<HttpResponse, 'status' | 'headers'>,
  redaction: Redaction,
): NonNullable<RequestState['response']> {
  const grpcStatus = Number(response.headers.get('grpc-status') ?? Number.NaN);
  return {
    code: response.status,
    ...(Number.isInteger(grpcStatus) ? { grpcStatus } : {}),
    headers: headersPart(response.headers, redaction),
  };
}

function headersPart(
  headers: Headers,
  redaction: Redaction,
  lent: LentCredentials | null = null,
): Readonly<Record<string, string | readonly string[]>> {
  const shown = new Map<string, string | string[]>();
  for (const [name, value] of headers) {
    const known = shown.get(name);
    const visible = lent?.hidesHeader(name) === true ? REDACTED : redaction.header(name, value);
    if (known === undefined) shown.set(name, visible);
    else if (typeof known === 'string') shown.set(name, [known, visible]);
    else known.push(visible);
  }
  return Object.fromEntries(shown);
}

function sourcePart(connection: ConnectionFacts): Readonly<Record<string, unknown>> {
  const { tls } = connection;
  const peer = tls?.peer ?? null;
  return {
    address: connection.sourceAddress,
    port: connection.sourcePort,
    ...(connection.rawAddress === connection.sourceAddress && connection.rawPort === connection.sourcePort
      ? {}
      : { rawAddress: connection.rawAddress, rawPort: connection.rawPort }),
    ...(tls === null ? {} : { tls: { sni: tls.sni, alpn: tls.alpn, version: tls.version } }),
    ...(peer === null
      ? {}
      : {
          identity: peer.identity,
          spiffeId: peer.spiffeId,
          subjectAltNames: peer.subjectAltNames,
          issuer: peer.issuer,
          subject: peer.subject,
          subjectCn: peer.subjectCn,
        }),
  };
}
