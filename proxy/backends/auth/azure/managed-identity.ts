import type { AzureIdentity } from '../../../../src/config/ir/index.ts';
import { type Cloud, CLOUD_TIMEOUT_MS, type CloudRequest } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import { endOf, readAnswer, refused, secondsOf, tokenIn } from '../token-answer.ts';
import type { Expiring } from '../token-cache.ts';
import type { AzureSource } from './compile.ts';

const METADATA_HOST = 'http://169.254.169.254';
const METADATA_PATH = '/metadata/identity/oauth2/token';
const METADATA_VERSION = '2018-02-01';
const SERVICE_VERSION = '2019-08-01';
const WHO = 'the managed identity endpoint';

/** The identity that the platform gives to a machine or a service; undefined takes the one that it has by itself. */
export function managedIdentity(identity?: AzureIdentity): AzureSource {
  return async (cloud, scope) => {
    const nowMs = Date.now();
    const response = await cloud.call(requestFor(cloud, resourceOf(scope), identity));
    if (response.status !== 200) throw refused(WHO, response, [cloud.env('IDENTITY_HEADER') ?? '']);
    return tokenOf(response.text, nowMs);
  };
}

/** Whether variables name an endpoint, so that there is no need to look for one. */
export function isAnnounced(cloud: Cloud): boolean {
  return cloud.env('IDENTITY_ENDPOINT') !== undefined || cloud.env('MSI_ENDPOINT') !== undefined;
}

/** The metadata service of a machine refuses this quickly; elsewhere nobody answers. */
export function probe(cloud: Cloud, timeoutMs: number): Promise<unknown> {
  return cloud.call({ method: 'GET', url: `${metadataUrl(cloud)}?api-version=${METADATA_VERSION}`, timeoutMs });
}

function requestFor(cloud: Cloud, resource: string, identity: AzureIdentity | undefined): CloudRequest {
  const endpoint = cloud.env('IDENTITY_ENDPOINT');
  const header = cloud.env('IDENTITY_HEADER');
  if (endpoint !== undefined && header !== undefined) {
    const query = { 'api-version': SERVICE_VERSION, resource, ...named(identity, 'mi_res_id') };
    return get(endpoint, query, { 'x-identity-header': header });
  }
  const shell = cloud.env('MSI_ENDPOINT');
  if (shell !== undefined) return fromShell(shell, resource, identity);
  const query = { 'api-version': METADATA_VERSION, resource, ...named(identity, 'msi_res_id') };
  return get(metadataUrl(cloud), query, { metadata: 'true' });
}

function get(
  endpoint: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): CloudRequest {
  const url = addressOf(endpoint);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { method: 'GET', url: url.href, headers, timeoutMs: CLOUD_TIMEOUT_MS };
}

/** The shell of the portal takes a form, and has one identity only. */
function fromShell(endpoint: string, resource: string, identity: AzureIdentity | undefined): CloudRequest {
  if (identity !== undefined) throw new CredentialError(`${WHO} of a cloud shell has no user-assigned identities`);
  return {
    method: 'POST',
    url: addressOf(endpoint).href,
    headers: { metadata: 'true', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ resource }).toString(),
    timeoutMs: CLOUD_TIMEOUT_MS,
  };
}

function metadataUrl(cloud: Cloud): string {
  return (cloud.env('AZURE_POD_IDENTITY_AUTHORITY_HOST') ?? METADATA_HOST).replace(/\/+$/, '') + METADATA_PATH;
}

function addressOf(endpoint: string): URL {
  if (URL.canParse(endpoint)) return new URL(endpoint);
  throw new CredentialError(`the address of ${WHO} in the environment is none`);
}

/** Endpoints disagree about the name of a resource id only. */
function named(identity: AzureIdentity | undefined, resourceId: string): Readonly<Record<string, string>> {
  if (identity === undefined) return {};
  const names = { clientId: 'client_id', objectId: 'object_id', resourceId } as const;
  return { [names[identity.kind]]: identity.value };
}

/** These endpoints know resources where others know scopes. */
function resourceOf(scope: string): string {
  return scope.replace(/\/\.default$/, '');
}

/** Some tell for how long, some until when (epoch seconds), most as texts. */
function tokenOf(text: string, nowMs: number): Expiring<string> {
  const answer = readAnswer(text, WHO);
  const until = secondsOf(answer['expires_on']);
  const expiresAtMs = endOf(answer['expires_in'], nowMs) ?? (until === null ? null : until * 1000);
  return { value: tokenIn(answer, 'access_token', WHO), expiresAtMs };
}
