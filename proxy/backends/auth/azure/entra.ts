import type { Secret } from '../../../../src/shared/secret.ts';
import { type Cloud, CLOUD_TIMEOUT_MS } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import { endOf, readAnswer, refused, secretsIn, tokenIn } from '../token-answer.ts';
import type { Expiring } from '../token-cache.ts';
import type { AzureSource } from './compile.ts';

const PUBLIC_AUTHORITY = 'https://login.microsoftonline.com';
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const WHO = 'Microsoft Entra ID';
/** Tenants stand in a path. */
const TENANT = /^[A-Za-z0-9.-]{1,256}$/;

export interface ClientSecret {
  readonly tenantId: string;
  readonly clientId: string;
  readonly secret: Secret;
}

/** An application that has a secret. */
export function clientSecret({ tenantId, clientId, secret }: ClientSecret): AzureSource {
  return (cloud, scope) => request(cloud, tenantId, { client_id: clientId, client_secret: secret.reveal(), scope });
}

/** The identity of a workload in a cluster: the token of its service account, which changes, stands for the secret. */
export const workloadIdentity: AzureSource = async (cloud, scope) => {
  const tenantId = variable(cloud, 'AZURE_TENANT_ID');
  const clientId = variable(cloud, 'AZURE_CLIENT_ID');
  const assertion = (await cloud.readFile(variable(cloud, 'AZURE_FEDERATED_TOKEN_FILE'))).trim();
  const proof = { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
  return request(cloud, tenantId, { client_id: clientId, ...proof, scope });
};

function variable(cloud: Cloud, name: string): string {
  const value = cloud.env(name);
  if (value !== undefined) return value;
  throw new CredentialError(`the environment has no Azure workload identity: ${name} is not set`);
}

/** The client credentials grant (RFC 6749 section 4.4). */
async function request(
  cloud: Cloud,
  tenantId: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Expiring<string>> {
  const authority = (cloud.env('AZURE_AUTHORITY_HOST') ?? PUBLIC_AUTHORITY).replace(/\/+$/, '');
  const host = authority.includes('://') ? authority : `https://${authority}`;
  const url = `${host}/${tenantId}/oauth2/v2.0/token`;
  if (!TENANT.test(tenantId) || !URL.canParse(url))
    throw new CredentialError('the Azure tenant or authority of the environment is none');
  const nowMs = Date.now();
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...parameters });
  const response = await cloud.call({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    timeoutMs: CLOUD_TIMEOUT_MS,
  });
  if (response.status !== 200) throw refused(WHO, response, secretsIn(form));
  const answer = readAnswer(response.text, WHO);
  return { value: tokenIn(answer, 'access_token', WHO), expiresAtMs: endOf(answer['expires_in'], nowMs) };
}
