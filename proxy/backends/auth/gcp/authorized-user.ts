import type { JsonObject } from '../../../exchange/attributes.ts';
import type { GcpSource } from './source.ts';
import { askForToken, textIn, tokenUriOf } from './token-uri.ts';

/** A person who has logged in with the tools of the cloud; the audience of identity tokens is that of the login. */
export function authorizedUser(credential: JsonObject): GcpSource {
  const url = tokenUriOf(credential);
  const form = {
    grant_type: 'refresh_token',
    client_id: textIn(credential, 'client_id'),
    client_secret: textIn(credential, 'client_secret'),
    refresh_token: textIn(credential, 'refresh_token'),
  };
  return (cloud, want) => askForToken(cloud, { url, form }, want.kind);
}
