import { Headers } from '../../../exchange/headers.ts';
import { type Cloud, CLOUD_TIMEOUT_MS } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import type { Expiring } from '../token-cache.ts';
import { type AwsKeys, sha256, signV4 } from './sigv4.ts';

/** The service that hands out keys for roles. */
export interface Sts {
  readonly cloud: Cloud;
  readonly region: string;
}

const VERSION = '2011-06-15';
const FORM = 'application/x-www-form-urlencoded; charset=utf-8';

export interface RoleSession {
  readonly roleArn: string;
  readonly sessionName: string;
  readonly tags: readonly (readonly [key: string, value: string])[];
}

/** Keys for a role, asked for with other keys. */
export function assumeRole(sts: Sts, session: RoleSession, keys: AwsKeys): Promise<Expiring<AwsKeys>> {
  const body = new URLSearchParams({
    Action: 'AssumeRole',
    Version: VERSION,
    RoleArn: session.roleArn,
    RoleSessionName: session.sessionName,
  });
  session.tags.forEach(([key, value], index) => {
    body.set(`Tags.member.${index + 1}.Key`, key);
    body.set(`Tags.member.${index + 1}.Value`, value);
  });
  return call(sts, body.toString(), keys);
}

/** Keys for a role, asked for with the token of a workload; that call is not signed. */
export async function assumeRoleWithWebIdentity(
  sts: Sts,
  session: Omit<RoleSession, 'tags'>,
  tokenFile: string,
): Promise<Expiring<AwsKeys>> {
  const token = (await sts.cloud.readFile(tokenFile)).trim();
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: VERSION,
    RoleArn: session.roleArn,
    RoleSessionName: session.sessionName,
    WebIdentityToken: token,
  });
  return call(sts, body.toString(), null);
}

async function call(sts: Sts, body: string, keys: AwsKeys | null): Promise<Expiring<AwsKeys>> {
  const url = endpointOf(sts);
  const headers = Headers.from([['content-type', FORM]]);
  if (keys !== null) {
    const parts = {
      method: 'POST',
      authority: url.host,
      target: url.pathname + url.search,
      headers,
      bodyHash: sha256(body),
    };
    signV4(parts, keys, { scope: { region: sts.region, service: 'sts' }, at: new Date() });
  }
  const answer = await sts.cloud.call({
    method: 'POST',
    url: url.href,
    headers: { ...Object.fromEntries(headers), accept: 'text/xml' },
    body,
    timeoutMs: CLOUD_TIMEOUT_MS,
  });
  if (answer.status === 200) return keysIn(answer.text);
  const code = element(answer.text, 'Code')?.slice(0, 64) ?? '';
  throw new CredentialError(`STS answered ${answer.status}${/^\w+$/.test(code) ? ` (${code})` : ''}`);
}

function endpointOf({ cloud, region }: Sts): URL {
  const configured = cloud.env('AWS_ENDPOINT_URL_STS') ?? cloud.env('AWS_ENDPOINT_URL');
  const address = configured ?? `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
  if (URL.canParse(address)) return new URL(address);
  throw new CredentialError('the address of STS in the environment is none');
}

function keysIn(xml: string): Expiring<AwsKeys> {
  const accessKeyId = element(xml, 'AccessKeyId');
  const secretAccessKey = element(xml, 'SecretAccessKey');
  const sessionToken = element(xml, 'SessionToken');
  const expiresAtMs = Date.parse(element(xml, 'Expiration') ?? '');
  if (accessKeyId === null || secretAccessKey === null || sessionToken === null || Number.isNaN(expiresAtMs))
    throw new CredentialError('STS answered without keys');
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expiresAtMs };
}

/** The text of the first element of a name; these documents have neither attributes nor sections in what is read. */
function element(xml: string, name: string): string | null {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  if (start === -1 || end === -1) return null;
  return unescapeXml(xml.slice(start + name.length + 2, end).trim());
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
