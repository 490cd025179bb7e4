import { basicCredentials } from '../../../../src/shared/basic-credentials.ts';
import { isJsonObject, type JsonObject } from '../../../exchange/attributes.ts';
import { readObjectText } from '../../../jwt/compact.ts';
import { type Cloud, CLOUD_TIMEOUT_MS } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import { refused } from '../token-answer.ts';
import { impersonated } from './impersonation.ts';
import type { GcpSource } from './source.ts';
import { addressIn, askForToken, textIn } from './token-uri.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** Workload identity federation: the token of another platform is exchanged (RFC 8693). */
export function externalAccount(credential: JsonObject): GcpSource {
  const federated = exchanged(credential);
  const { service_account_impersonation_url: url } = credential;
  const source = typeof url === 'string' && url !== '' ? impersonated(url, federated, undefined) : federated;
  return (cloud, want) => {
    if (want.kind === 'accessToken') return source(cloud, want);
    throw new CredentialError('a Google credential of type external_account gives no identity tokens');
  };
}

function exchanged(credential: JsonObject): GcpSource {
  const url = textIn(credential, 'token_url');
  const audience = textIn(credential, 'audience');
  const type = textIn(credential, 'subject_token_type');
  const readToken = subjectToken(credential['credential_source']);
  const headers = clientHeader(credential);
  return async (cloud, want) => {
    const form = {
      grant_type: GRANT,
      audience,
      scope: want.kind === 'accessToken' ? want.scope : '',
      requested_token_type: ACCESS_TOKEN,
      subject_token: await readToken(cloud),
      subject_token_type: type,
    };
    return askForToken(cloud, { url, form, headers }, 'accessToken');
  };
}

/** Workforce pools may have a client. */
function clientHeader({ client_id: id, client_secret: secret }: JsonObject): Readonly<Record<string, string>> {
  return typeof id === 'string' && typeof secret === 'string' ? { authorization: basicCredentials(id, secret) } : {};
}

/** Where the token of the other platform is: in a file, or behind an address of that platform. */
function subjectToken(source: JsonObject[string] | undefined): (cloud: Cloud) => Promise<string> {
  if (!isJsonObject(source)) throw new CredentialError('the Google credential has no credential_source');
  const { file, url, headers, format, environment_id: environment } = source;
  const read = formatted(format);
  if (typeof file === 'string') return async (cloud) => read(await cloud.readFile(file));
  if (typeof url === 'string' && environment === undefined) {
    const address = addressIn(url);
    return async (cloud) => read(await fetchToken(cloud, address, textsIn(headers)));
  }
  throw new CredentialError('the credential_source of the Google credential is of a kind that is not supported');
}

async function fetchToken(cloud: Cloud, url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await cloud.call({ method: 'GET', url, headers, timeoutMs: CLOUD_TIMEOUT_MS });
  if (response.status === 200) return response.text;
  throw refused('the source of the Google credential', response, Object.values(headers));
}

function textsIn(headers: JsonObject[string] | undefined): Readonly<Record<string, string>> {
  if (!isJsonObject(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The token itself, or a member of a JSON object. */
function formatted(format: JsonObject[string] | undefined): (text: string) => string {
  const field = isJsonObject(format) && format['type'] === 'json' ? textIn(format, 'subject_token_field_name') : null;
  return (text) => {
    const token = field === null ? text.trim() : readObjectText(text)?.[field];
    if (typeof token === 'string' && token !== '') return token;
    throw new CredentialError('the source of the Google credential gave no token');
  };
}
