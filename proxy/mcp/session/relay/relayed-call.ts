import { Secret } from '../../../../src/shared/secret.ts';
import type { Attributes, VerifiedApiKey } from '../../../exchange/attributes.ts';
import { emptyBody } from '../../../exchange/body.ts';
import type { ConnectionFacts } from '../../../exchange/connection.ts';
import { Exchange } from '../../../exchange/exchange.ts';
import { Headers } from '../../../exchange/headers.ts';
import type { HttpRequest } from '../../../exchange/message.ts';
import type { Transport } from '../../../exchange/transport.ts';
import type { Recorder, TracePlace } from '../../../telemetry/recorder.ts';
import type { TargetCall } from '../../targets/contract.ts';

/** A call as it goes to another thread: data that a message can carry. */
export interface RelayedCall {
  readonly version: string | null;
  /** Null when nobody watches the request. */
  readonly trace: TracePlace | null;
  readonly headers: RelayedHeaders;
  readonly request: Omit<HttpRequest, 'headers' | 'body'>;
  readonly requestHeaders: RelayedHeaders;
  readonly connection: ConnectionFacts;
  readonly jwt: { readonly claims: unknown; readonly rawToken: string } | null;
  readonly apiKey: (Omit<VerifiedApiKey, 'key'> & { readonly key: string }) | null;
  readonly known: Pick<Attributes, 'basicAuth' | 'extauthz' | 'extproc' | 'mcpGuardrails'>;
}

export interface RelayedHeaders {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

export function relayed({ exchange, trace, headers, version }: TargetCall): RelayedCall {
  const { request, connection, attributes } = exchange;
  const { method, scheme, authority, target, version: httpVersion, upgrade, headers: requestHeaders } = request;
  const { jwt, apiKey, basicAuth, extauthz, extproc, mcpGuardrails } = attributes;
  return {
    version,
    trace: (trace ?? exchange.trace)?.place ?? null,
    headers: { names: headers.names, values: headers.values },
    request: { method, scheme, authority, target, version: httpVersion, upgrade },
    requestHeaders: { names: requestHeaders.names, values: requestHeaders.values },
    connection,
    jwt: jwt === null ? null : { claims: jwt.claims, rawToken: jwt.rawToken.reveal() },
    apiKey: apiKey === null ? null : { ...apiKey, key: apiKey.key.reveal() },
    known: { basicAuth, extauthz, extproc, mcpGuardrails },
  };
}

/** The client is another thread's: nothing can be said to it from here. */
const elsewhere: Transport = {
  respond: (_response, done) => done({ kind: 'clientGone', bytes: 0 }),
  informational() {},
  takeOver: () => null,
  onClientGone() {},
  closeAfterResponse() {},
};

/** The call in the thread that it was relayed to; its exchange knows what policies of the connection ask for. */
export function arrived(call: RelayedCall, trace: Recorder | null): TargetCall {
  const request = { ...call.request, headers: headersOf(call.requestHeaders), body: emptyBody };
  const exchange = new Exchange(request, call.connection, elsewhere, trace);
  Object.assign(exchange.attributes, call.known);
  if (call.jwt !== null) {
    const { claims, rawToken } = call.jwt;
    // `as`: claims were an object when they left.
    exchange.attributes.jwt = { claims: claims as never, rawToken: new Secret(rawToken) };
  }
  if (call.apiKey !== null) exchange.attributes.apiKey = { ...call.apiKey, key: new Secret(call.apiKey.key) };
  return { exchange, trace, headers: headersOf(call.headers), version: call.version };
}

export function headersOf({ names, values }: RelayedHeaders): Headers {
  return new Headers([...names], [...values]);
}
