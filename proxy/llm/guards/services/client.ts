import type { ServiceRef } from '../../../../src/config/ir/policy/policy-service.ts';
import { BufferedBody } from '../../../exchange/body.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import { Headers } from '../../../exchange/headers.ts';
import type { HttpRequest } from '../../../exchange/message.ts';
import type { PolicyContext } from '../../../policy/contract.ts';
import { serviceCredentials } from '../../../policy/service-credentials.ts';
import { type ServiceClient, ServiceError, type ServiceResponse } from '../../../services/contract.ts';
import { GuardFailure } from '../contract.ts';

/** Covers the whole call; the policies of the connection may say something else. */
const TIMEOUT_MS = 10_000;
/** Masks come back with every message of a prompt. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface GuardCall {
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  readonly method?: string | undefined;
  readonly path: string;
  /** Null takes the service's own. */
  readonly authority?: string | null | undefined;
  readonly headers?: Headers | undefined;
  readonly body: unknown;
}

/** Calls of one guard service, with the credentials that the policies of the connection name. */
export interface GuardClient {
  readonly name: string;
  /** Throws a `GuardFailure`. */
  send(call: GuardCall): Promise<ServiceResponse>;
}

/** Throws a `GwError` for a reference to nothing, and for credentials that cannot be used. */
export function guardClient(ref: ServiceRef, context: PolicyContext): GuardClient {
  const client = context.deps.services.open(ref, 'Guardrail');
  const authorize = serviceCredentials(client.credentials, context, 'guardrail');
  return {
    name: client.name,
    async send({ exchange, signal, method = 'POST', path, authority = null, headers = new Headers(), body }) {
      headers.set('content-type', 'application/json');
      const bytes = Buffer.from(JSON.stringify(body));
      const request = requestOf({ method, target: path, authority: authority ?? '', headers, bytes });
      if (authorize !== null) {
        // Signatures cover the name.
        if (authority === null) request.authority = nameOf(client);
        const refusal = await authorize(request, exchange);
        if (refusal !== null) throw new GuardFailure(refusal.message);
      }
      const call = {
        method: request.method,
        target: request.target,
        authority: request.authority === '' ? null : request.authority,
        headers: request.headers,
        body: bytes,
      };
      const trace = exchange.trace?.scoped('guardrail') ?? null;
      const options = { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES, signal, trace };
      try {
        return await client.http(call, { ...options, spans: exchange.spans });
      } catch (error) {
        if (error instanceof ServiceError) throw new GuardFailure(error.message, { cause: error });
        throw error;
      }
    },
  };
}

function nameOf({ authority }: ServiceClient): string {
  try {
    return authority?.() ?? '';
  } catch (error) {
    if (error instanceof ServiceError) throw new GuardFailure(error.message, { cause: error });
    throw error;
  }
}

function requestOf({
  method,
  target,
  authority,
  headers,
  bytes,
}: Pick<HttpRequest, 'method' | 'target' | 'authority' | 'headers'> & { readonly bytes: Uint8Array }): HttpRequest {
  return {
    method,
    scheme: 'https',
    authority,
    target,
    version: 'HTTP/1.1',
    headers,
    body: new BufferedBody(bytes),
    upgrade: null,
  };
}
