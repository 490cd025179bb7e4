import type { Oidc } from '../../../src/config/ir/index.ts';
import { basicCredentials } from '../../../src/shared/basic-credentials.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import { readObjectText } from '../../jwt/compact.ts';
import { AnswerTooLarge, callDirectly } from '../../services/direct-call.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import type { Provider } from './provider.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

export interface Grant {
  readonly code: string;
  readonly pkceVerifier: string;
}

/**
 * Trades the code of a callback for an ID token (RFC 6749 section 4.1.3, RFC 7636 section 4.5). Throws an error that
 * says in a few words what was wrong, without anything that the provider sent.
 */
export async function exchangeCode(
  spec: Oidc,
  provider: Provider,
  grant: Grant,
  { signal, trace }: { readonly signal: AbortSignal; readonly trace: Recorder | null },
): Promise<string> {
  const start = trace?.now() ?? null;
  trace?.emit({ type: 'backendCallStart', target: new URL(provider.tokenEndpoint).host });
  try {
    const token = await call(spec, provider, grant, signal);
    trace?.emit({ type: 'backendCallResult', status: 200, error: null }, 'info', start);
    return token;
  } catch (error) {
    trace?.emit({ type: 'backendCallResult', status: null, error: messageOf(error) }, 'error', start);
    throw error;
  }
}

async function call(spec: Oidc, provider: Provider, grant: Grant, given: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const { status, text } = await callDirectly({
      method: 'POST',
      url: provider.tokenEndpoint,
      ...form(spec, provider, grant),
      maxBytes: MAX_BYTES,
      signal: AbortSignal.any([given, timeout]),
    });
    if (status !== 200) throw new Error(`the token endpoint answered with status ${status}`);
    return idTokenOf(text);
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      throw new Error('the answer of the token endpoint is larger than 64 KiB', { cause: error });
    const late = timeout.aborted ? `the token endpoint gave no whole answer within ${TIMEOUT_MS / 1000} s` : undefined;
    throw new Error(late ?? (messageOf(error) || 'the connection failed'), { cause: error });
  }
}

function form({ clientId, clientSecret, redirectUri }: Oidc, { tokenEndpointAuth }: Provider, grant: Grant) {
  const fields = new URLSearchParams({
    grant_type: 'authorization_code',
    code: grant.code,
    redirect_uri: redirectUri,
    code_verifier: grant.pkceVerifier,
  });
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'user-agent': 'gwctl',
  };
  if (tokenEndpointAuth === 'clientSecretPost') {
    fields.set('client_id', clientId);
    fields.set('client_secret', clientSecret.reveal());
  } else {
    headers['authorization'] = basicCredentials(clientId, clientSecret.reveal());
  }
  return { headers, body: fields.toString() };
}

function idTokenOf(text: string): string {
  const answer = readObjectText(text);
  if (answer === null) throw new Error('the answer of the token endpoint is not a JSON object');
  const token = answer['id_token'];
  if (typeof token !== 'string') throw new Error('the answer of the token endpoint has no ID token');
  return token;
}
