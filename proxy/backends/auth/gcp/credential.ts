import { isJsonObject, type JsonObject } from '../../../exchange/attributes.ts';
import { readObjectText } from '../../../jwt/compact.ts';
import { CredentialError } from '../failure.ts';
import { authorizedUser } from './authorized-user.ts';
import { externalAccount } from './external-account.ts';
import { impersonated } from './impersonation.ts';
import { serviceAccount } from './service-account.ts';
import type { GcpSource } from './source.ts';
import { textIn } from './token-uri.ts';

/** Reads a credential in JSON, as the tools of the cloud write it. Throws a `CredentialError`. */
export function credentialIn(text: string): GcpSource {
  const credential = readObjectText(text);
  if (credential === null) throw new CredentialError('the Google credential is not a JSON object');
  return sourceOf(credential);
}

function sourceOf(credential: JsonObject): GcpSource {
  switch (credential['type']) {
    case 'service_account':
      return serviceAccount(credential);
    case 'authorized_user':
      return authorizedUser(credential);
    case 'external_account':
      return externalAccount(credential);
    case 'impersonated_service_account':
      return impersonatedAccount(credential);
    default:
      throw new CredentialError('the Google credential is of a type that is not supported');
  }
}

function impersonatedAccount(credential: JsonObject): GcpSource {
  const { source_credentials: source, delegates } = credential;
  if (!isJsonObject(source) || source['type'] === 'impersonated_service_account')
    throw new CredentialError('the Google credential has no source_credentials of another type');
  return impersonated(textIn(credential, 'service_account_impersonation_url'), sourceOf(source), delegates);
}
