import { type Cloud, CLOUD_TIMEOUT_MS, type CloudRequest } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import type { Expiring } from '../token-cache.ts';
import type { AwsKeys } from './sigv4.ts';
import { assumeRoleWithWebIdentity } from './sts.ts';

const CONTAINER_HOST = 'http://169.254.170.2';
const METADATA_HOST = 'http://169.254.169.254';
const METADATA_TOKEN_TTL_S = '60';
export const SESSION_NAME = 'gwctl';

/**
 * Keys of the environment, from the first place that has any: variables, the token of a workload, the container, the
 * machine.
 */
export function ambientKeys(cloud: Cloud, region: string): Promise<Expiring<AwsKeys>> {
  const own = variables(cloud);
  if (own !== null) return Promise.resolve({ value: own, expiresAtMs: null });
  const tokenFile = cloud.env('AWS_WEB_IDENTITY_TOKEN_FILE');
  const roleArn = cloud.env('AWS_ROLE_ARN');
  if (tokenFile !== undefined && roleArn !== undefined) {
    const sessionName = cloud.env('AWS_ROLE_SESSION_NAME') ?? SESSION_NAME;
    return assumeRoleWithWebIdentity({ cloud, region }, { roleArn, sessionName }, tokenFile);
  }
  return fromContainer(cloud) ?? fromMachine(cloud);
}

function variables(cloud: Cloud): AwsKeys | null {
  const accessKeyId = cloud.env('AWS_ACCESS_KEY_ID');
  const secretAccessKey = cloud.env('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, sessionToken: cloud.env('AWS_SESSION_TOKEN') ?? null };
}

/** Tasks of a cluster are told an address, and often a token for it. */
function fromContainer(cloud: Cloud): Promise<Expiring<AwsKeys>> | null {
  const relative = cloud.env('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  const url = relative === undefined ? cloud.env('AWS_CONTAINER_CREDENTIALS_FULL_URI') : `${CONTAINER_HOST}${relative}`;
  if (url === undefined) return null;
  if (!URL.canParse(url)) return Promise.reject(new CredentialError('the address of container credentials is none'));
  return containerToken(cloud).then((authorization) =>
    fetchKeys(cloud, {
      method: 'GET',
      url,
      headers: authorization === undefined ? {} : { authorization },
      timeoutMs: CLOUD_TIMEOUT_MS,
    }),
  );
}

async function containerToken(cloud: Cloud): Promise<string | undefined> {
  const file = cloud.env('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  return file === undefined ? cloud.env('AWS_CONTAINER_AUTHORIZATION_TOKEN') : (await cloud.readFile(file)).trim();
}

/** The metadata service of the machine, in its second version: a token first, then the keys of the role. */
async function fromMachine(cloud: Cloud): Promise<Expiring<AwsKeys>> {
  if (cloud.env('AWS_EC2_METADATA_DISABLED')?.toLowerCase() === 'true')
    throw new CredentialError('the environment has no AWS credentials');
  const host = (cloud.env('AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? METADATA_HOST).replace(/\/+$/, '');
  const startedAt = performance.now();
  const ask = (request: Omit<CloudRequest, 'timeoutMs'>) =>
    cloud.call({ ...request, timeoutMs: Math.max(1, Math.round(CLOUD_TIMEOUT_MS - (performance.now() - startedAt))) });
  const token = await ask({
    method: 'PUT',
    url: `${host}/latest/api/token`,
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': METADATA_TOKEN_TTL_S },
  });
  if (token.status !== 200) throw new CredentialError(`the metadata service answered ${token.status}`);
  const headers = { 'x-aws-ec2-metadata-token': token.text.trim() };
  const base = `${host}/latest/meta-data/iam/security-credentials/`;
  const roles = await ask({ method: 'GET', url: base, headers });
  const role = roles.text.split('\n')[0]?.trim() ?? '';
  if (roles.status !== 200 || role === '') throw new CredentialError('the machine has no AWS role');
  const answer = await ask({ method: 'GET', url: base + encodeURIComponent(role), headers });
  return keysOf(answer);
}

async function fetchKeys(cloud: Cloud, request: CloudRequest): Promise<Expiring<AwsKeys>> {
  return keysOf(await cloud.call(request));
}

function keysOf({ status, text }: { readonly status: number; readonly text: string }): Expiring<AwsKeys> {
  if (status !== 200) throw new CredentialError(`the AWS credential endpoint answered ${status}`);
  const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: expiration } = members(text);
  const expiresAtMs = Date.parse(expiration ?? '');
  if (id === undefined || secret === undefined) throw new CredentialError('the AWS credential endpoint gave no keys');
  return {
    value: { accessKeyId: id, secretAccessKey: secret, sessionToken: token ?? null },
    expiresAtMs: Number.isNaN(expiresAtMs) ? null : expiresAtMs,
  };
}

/** The texts of a JSON object. */
function members(text: string): Readonly<Record<string, string | undefined>> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CredentialError('the AWS credential endpoint did not answer in JSON', { cause: error });
  }
  if (typeof json !== 'object' || json === null) return {};
  return Object.fromEntries(
    Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
