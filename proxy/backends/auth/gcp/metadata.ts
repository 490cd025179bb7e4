import { type Cloud, CLOUD_TIMEOUT_MS } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import { endOf, readAnswer, tokenIn } from '../token-answer.ts';
import type { GcpSource } from './source.ts';
import { identity } from './token-uri.ts';

const METADATA_HOST = 'metadata.google.internal';
const ACCOUNT = '/computeMetadata/v1/instance/service-accounts/default';
const WHO = 'the Google metadata server';

/** Tokens of the account that a machine, or a workload of a cluster, runs as. */
export const fromMetadata: GcpSource = async (cloud, want) => {
  const nowMs = Date.now();
  if (want.kind === 'idToken') {
    const query = new URLSearchParams({ audience: want.audience, format: 'full' });
    const text = await get(cloud, `/identity?${query.toString()}`);
    return identity(tokenIn({ token: text.trim() }, 'token', WHO));
  }
  const answer = readAnswer(await get(cloud, `/token?${new URLSearchParams({ scopes: want.scope }).toString()}`), WHO);
  return { value: tokenIn(answer, 'access_token', WHO), expiresAtMs: endOf(answer['expires_in'], nowMs) };
};

async function get(cloud: Cloud, path: string): Promise<string> {
  const url = `http://${cloud.env('GCE_METADATA_HOST') ?? METADATA_HOST}${ACCOUNT}${path}`;
  if (!URL.canParse(url)) throw new CredentialError('GCE_METADATA_HOST of the environment is no host');
  const headers = { 'metadata-flavor': 'Google' };
  const { status, text } = await cloud.call({ method: 'GET', url, headers, timeoutMs: CLOUD_TIMEOUT_MS });
  if (status === 200) return text;
  throw new CredentialError(`${WHO} answered ${status}`);
}
