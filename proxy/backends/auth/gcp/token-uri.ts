import type { JsonObject } from '../../../exchange/attributes.ts';
import { type Cloud, CLOUD_TIMEOUT_MS } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import { claimedEnd, endOf, readAnswer, refused, secretsIn, tokenIn } from '../token-answer.ts';
import type { Expiring } from '../token-cache.ts';
import type { GcpWant } from './source.ts';

const TOKEN_URI = 'https://oauth2.googleapis.com/token';
const WHO = 'the Google token endpoint';

/** Where a credential is traded for tokens. */
export function tokenUriOf(credential: JsonObject): string {
  const uri = credential['token_uri'];
  return typeof uri === 'string' && uri !== '' ? uri : TOKEN_URI;
}

/** Posts a form to a token endpoint and takes the token that is wanted from its answer. */
export async function askForToken(
  cloud: Cloud,
  { url, form, headers = {} }: FormRequest,
  want: GcpWant['kind'],
): Promise<Expiring<string>> {
  const nowMs = Date.now();
  const body = new URLSearchParams(form);
  const response = await cloud.call({
    method: 'POST',
    url: addressIn(url),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: body.toString(),
    timeoutMs: CLOUD_TIMEOUT_MS,
  });
  if (response.status !== 200) throw refused(WHO, response, secretsIn(body));
  const answer = readAnswer(response.text, WHO);
  if (want === 'idToken') return identity(tokenIn(answer, 'id_token', WHO));
  return { value: tokenIn(answer, 'access_token', WHO), expiresAtMs: endOf(answer['expires_in'], nowMs) };
}

export interface FormRequest {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Identity tokens say themselves how long they are good. */
export function identity(token: string): Expiring<string> {
  return { value: token, expiresAtMs: claimedEnd(token) };
}

/** An address that a credential names. */
export function addressIn(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed !== null && (parsed.protocol === 'https:' || parsed.protocol === 'http:')) return url;
  throw new CredentialError('the Google credential names an address that is none');
}

/** A text that a credential has to have. */
export function textIn(credential: JsonObject, name: string): string {
  const value = credential[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new CredentialError(`the Google credential has no ${name}`);
}
