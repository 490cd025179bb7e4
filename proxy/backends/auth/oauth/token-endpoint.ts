import type { TokenEndpoint } from '../../../../src/config/ir/index.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';
import { Headers } from '../../../exchange/headers.ts';
import type { PolicyDeps } from '../../../policy/contract.ts';
import { type CallOptions, ServiceError, type ServiceResponse } from '../../../services/contract.ts';
import { CallerError, CredentialError } from '../failure.ts';
import { causeIn, readAnswer, secretsIn } from '../token-answer.ts';
import { clientAuth } from './client-auth.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** On whose behalf a call is made. */
export type CallContext = Pick<CallOptions, 'trace' | 'spans'>;

/**
 * Asks a token endpoint (RFC 6749 section 3.2) and gives the object that it answers with. Rejects with a `CallerError`
 * when it does not take what the caller brought, with a `CredentialError` for every other failure.
 */
export type AskEndpoint = (parameters: URLSearchParams, context: CallContext) => Promise<JsonObject>;

/** Throws a `GwError` for a service that does not exist. */
export function tokenEndpoint({ service, path, clientAuth: auth }: TokenEndpoint, deps: PolicyDeps): AskEndpoint {
  const client = deps.services.open(service);
  const gateway = clientAuth(auth);
  return async (parameters, context) => {
    const form = new URLSearchParams(parameters);
    const headers = Headers.from([
      ['content-type', 'application/x-www-form-urlencoded'],
      ['accept', 'application/json'],
    ]);
    await gateway.show(headers, form);
    const request = { method: 'POST', target: path, authority: null, headers, body: Buffer.from(form.toString()) };
    const options = { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES, ...context };
    let response: ServiceResponse;
    try {
      response = await client.http(request, options);
    } catch (error) {
      throw unanswered(error);
    }
    return objectIn(response, [...secretsIn(form), gateway.secret]);
  };
}

function unanswered(error: unknown): CredentialError {
  const tooLarge = error instanceof ServiceError && error.kind === 'tooLarge';
  const what = tooLarge ? 'the answer of the token endpoint is too large' : 'the token endpoint gives no answer';
  return new CredentialError(what, { cause: error });
}

function objectIn({ status, body }: ServiceResponse, secrets: readonly string[]): JsonObject {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  if (status >= 200 && status < 300) return readAnswer(text, 'the token endpoint');
  const message = `the token endpoint answered ${status}`;
  const options = causeIn(text, secrets);
  // 401 and 403 are about the gateway: the endpoint does not take its own credentials.
  const callers = status >= 400 && status < 500 && status !== 401 && status !== 403;
  throw callers ? new CallerError(message, options) : new CredentialError(message, options);
}
