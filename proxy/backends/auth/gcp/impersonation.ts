import type { JsonValue } from '../../../exchange/attributes.ts';
import { type Cloud, CLOUD_TIMEOUT_MS } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import { readAnswer, refused, tokenIn } from '../token-answer.ts';
import type { Expiring } from '../token-cache.ts';
import { CLOUD_SCOPE, type GcpSource, type GcpWant } from './source.ts';
import { addressIn, identity } from './token-uri.ts';

const LIFETIME = '3600s';
const WHO = 'the Google credentials service';
const METHODS = /:generate(?:AccessToken|IdToken)$/;

/** Tokens of another account, asked for with those of `source`; `url` is that of one of the account's methods. */
export function impersonated(url: string, source: GcpSource, delegates: JsonValue | undefined): GcpSource {
  const account = addressIn(url).replace(METHODS, '');
  const through = Array.isArray(delegates) ? { delegates } : {};
  return async (cloud, want) => {
    const own = await source(cloud, { kind: 'accessToken', scope: CLOUD_SCOPE });
    return want.kind === 'accessToken'
      ? accessToken(await call(cloud, `${account}:generateAccessToken`, own.value, { ...through, ...wish(want) }))
      : idToken(await call(cloud, `${account}:generateIdToken`, own.value, { ...through, ...wish(want) }));
  };
}

function wish(want: GcpWant): object {
  return want.kind === 'accessToken'
    ? { scope: [want.scope], lifetime: LIFETIME }
    : { audience: want.audience, includeEmail: true };
}

async function call(cloud: Cloud, url: string, token: string, body: object): Promise<string> {
  const response = await cloud.call({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
    timeoutMs: CLOUD_TIMEOUT_MS,
  });
  if (response.status === 200) return response.text;
  throw refused(WHO, response, [token]);
}

function accessToken(text: string): Expiring<string> {
  const answer = readAnswer(text, WHO);
  const { expireTime } = answer;
  const expiresAtMs = typeof expireTime === 'string' ? Date.parse(expireTime) : Number.NaN;
  if (Number.isNaN(expiresAtMs)) throw new CredentialError(`${WHO} does not say when its token ends`);
  return { value: tokenIn(answer, 'accessToken', WHO), expiresAtMs };
}

function idToken(text: string): Expiring<string> {
  return identity(tokenIn(readAnswer(text, WHO), 'token', WHO));
}
