import { Secret } from '../../../../src/shared/secret.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';
import { tokenSigner, type TokenSigner } from '../../../jwt/sign.ts';
import { CredentialError } from '../failure.ts';
import type { GcpSource, GcpWant } from './source.ts';
import { askForToken, textIn, tokenUriOf } from './token-uri.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_TTL_S = 3600;

/** An account that has a key: it signs an assertion (RFC 7523), which is traded for a token. */
export function serviceAccount(credential: JsonObject): GcpSource {
  const sign = signerOf(credential);
  const url = tokenUriOf(credential);
  const email = textIn(credential, 'client_email');
  return async (cloud, want) => {
    const nowS = Math.floor(Date.now() / 1000);
    const claims = { iss: email, sub: email, aud: url, iat: nowS, exp: nowS + ASSERTION_TTL_S, ...wish(want) };
    const assertion = await sign(claims);
    return askForToken(cloud, { url, form: { grant_type: GRANT, assertion } }, want.kind);
  };
}

function wish(want: GcpWant): object {
  return want.kind === 'accessToken' ? { scope: want.scope } : { target_audience: want.audience };
}

function signerOf(credential: JsonObject): TokenSigner {
  const { private_key_id: kid } = credential;
  const pem = new Secret(textIn(credential, 'private_key'));
  try {
    return tokenSigner({ pem, alg: 'RS256', ...(typeof kid === 'string' && kid !== '' ? { kid } : {}) });
  } catch {
    throw new CredentialError('the private_key of the Google credential is none');
  }
}
