import { createHash, randomUUID } from 'node:crypto';

import type { OAuthClientAuth } from '../../../../src/config/ir/index.ts';
import { assertNever } from '../../../../src/shared/assert-never.ts';
import { basicCredentials } from '../../../../src/shared/basic-credentials.ts';
import type { Headers } from '../../../exchange/headers.ts';
import { tokenSigner } from '../../../jwt/sign.ts';
import { CLOCK_LEEWAY_S } from '../jwt-sign.ts';

/** How the gateway shows itself to a token endpoint. */
export interface Client {
  /** Writes into the headers or the form of a token request. */
  show(headers: Headers, form: URLSearchParams): void | Promise<void>;
  /** What must not be shown to others, when it stands in no form. */
  readonly secret: string;
}

const ASSERTION_TTL_S = 300;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** RFC 6749 section 2.3.1, RFC 7523 section 2.2; without settings nothing is shown. */
export function clientAuth(spec: OAuthClientAuth | undefined, now: () => number = Date.now): Client {
  if (spec === undefined) return { show: () => {}, secret: '' };
  const { clientId } = spec;
  switch (spec.kind) {
    case 'clientSecretBasic': {
      const secret = spec.clientSecret.reveal();
      const authorization = basicCredentials(clientId, secret);
      return { show: (headers) => headers.set('authorization', authorization), secret };
    }
    case 'clientSecretPost': {
      const secret = spec.clientSecret?.reveal();
      const show = (_headers: Headers, form: URLSearchParams): void => {
        form.set('client_id', clientId);
        if (secret !== undefined) form.set('client_secret', secret);
      };
      return { show, secret: '' };
    }
    case 'privateKeyJwt':
      return { show: privateKeyJwt(spec, now), secret: '' };
    default:
      return assertNever(spec);
  }
}

type PrivateKeyJwt = Extract<OAuthClientAuth, { kind: 'privateKeyJwt' }>;

/** RFC 7523 section 3: the assertion is the client's own. */
function privateKeyJwt({ clientId, signingKey, assertionAudience, certificate }: PrivateKeyJwt, now: () => number) {
  const sign = tokenSigner(signingKey, certificateHeader(certificate));
  return async (_headers: Headers, form: URLSearchParams): Promise<void> => {
    const nowS = Math.floor(now() / 1000);
    const begin = nowS - CLOCK_LEEWAY_S;
    const claims = {
      iss: clientId,
      sub: clientId,
      aud: assertionAudience,
      jti: randomUUID(),
      iat: begin,
      nbf: begin,
      exp: nowS + ASSERTION_TTL_S,
    };
    form.set('client_id', clientId);
    form.set('client_assertion_type', ASSERTION_TYPE);
    form.set('client_assertion', await sign(claims));
  };
}

/** RFC 7515 sections 4.1.6 and 4.1.8. */
function certificateHeader(certificate: PrivateKeyJwt['certificate']): object {
  if (certificate === undefined) return {};
  const { header, chain } = certificate;
  if (header === 'x5c') return { x5c: chain };
  const own = Buffer.from(chain[0] ?? '', 'base64');
  return { 'x5t#S256': createHash('sha256').update(own).digest('base64url') };
}
