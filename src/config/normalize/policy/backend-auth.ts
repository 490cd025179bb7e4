import type {
  AwsAuth,
  AwsCredentialSource,
  AzureCredentialSource,
  AzureIdentity,
  BackendAuth,
  BackendAuthKind,
  FixedCredential,
  GcpAuth,
  JwtSign,
  TextOrExpression,
} from '../../ir/policy/backend-auth.ts';
import type { Path } from '../../load/problem.ts';
import type { AwsSpec, AzureSpec, BackendAuthSettings, BackendAuthSpec } from '../../schema/policy/backend-auth.ts';
import type { Context } from '../context.ts';
import { secretText } from '../secret-text.ts';
import { bearerLocation, credentialTarget } from './credential-location.ts';
import { gcpCredential } from './gcp-credential.ts';
import { crossAppAccess, oauthTokenExchange, type OAuthPlace } from './oauth.ts';
import { signingKey } from './signing-key.ts';

/** Undefined after a problem, or while a file is not read yet. */
export function backendAuth(context: Context, spec: BackendAuthSpec, place: OAuthPlace): BackendAuth | undefined {
  const { path } = place;
  if (spec === 'copilot') return { main: { kind: 'copilot' }, credentials: [] };
  const fixed = (spec.credentials ?? []).map((each, index) =>
    fixedCredential(context, each, [...path, 'credentials', index]),
  );
  const credentials = fixed.filter((each) => each !== undefined);
  const kind = mainKind(spec);
  if (credentials.length < fixed.length) return undefined;
  if (kind === undefined) return { credentials };
  const main = mainCredential(context, spec, place);
  if (main === undefined) return undefined;
  return isLocated(spec) ? { main, located: true, credentials } : { main, credentials };
}

function isLocated({ credentials: _credentials, ...kinds }: BackendAuthSettings): boolean {
  return Object.values(kinds).some(
    (kind) => typeof kind === 'object' && 'location' in kind && kind.location !== undefined,
  );
}

function mainKind({ credentials: _credentials, ...kinds }: BackendAuthSettings): string | undefined {
  return Object.entries(kinds).find(([, value]) => value !== undefined)?.[0];
}

function fixedCredential(
  context: Context,
  spec: NonNullable<BackendAuthSettings['credentials']>[number],
  path: Path,
): FixedCredential | undefined {
  const key = secretText(context, spec.key, [...path, 'key']);
  return key && { location: credentialTarget(spec.location, bearerLocation), key };
}

function mainCredential(context: Context, spec: BackendAuthSettings, place: OAuthPlace): BackendAuthKind | undefined {
  const { path } = place;
  const within = (name: string): OAuthPlace => ({ ...place, path: [...path, name] });
  if (spec.key !== undefined) return fixedKey(context, spec.key, [...path, 'key']);
  if (spec.passthrough !== undefined)
    return { kind: 'passthrough', location: credentialTarget(spec.passthrough.location, bearerLocation) };
  if (spec.jwtSign !== undefined) return jwtSign(context, spec.jwtSign, [...path, 'jwtSign']);
  if (spec.aws !== undefined) return aws(context, spec.aws, [...path, 'aws']);
  if (spec.azure !== undefined) return azure(context, spec.azure, [...path, 'azure']);
  if (spec.gcp !== undefined) return gcp(context, spec.gcp, [...path, 'gcp']);
  if (spec.oauthTokenExchange !== undefined)
    return oauthTokenExchange(context, spec.oauthTokenExchange, within('oauthTokenExchange'));
  return spec.crossAppAccess && crossAppAccess(context, spec.crossAppAccess, within('crossAppAccess'));
}

/** Longest key that may stand in a configuration. */
const MAX_KEY = 2048;

function fixedKey(
  context: Context,
  spec: NonNullable<BackendAuthSettings['key']>,
  path: Path,
): BackendAuthKind | undefined {
  const full = typeof spec === 'object' && 'value' in spec ? spec : { value: spec, location: undefined };
  const key = secretText(context, full.value, full === spec ? [...path, 'value'] : path);
  if (key === undefined) return undefined;
  if (key.reveal().length > MAX_KEY) {
    context.report(path, 'GW_CONFIG_VALUE', `the key is longer than ${MAX_KEY} characters`);
    return undefined;
  }
  return { kind: 'key', key, location: credentialTarget(full.location, bearerLocation) };
}

function jwtSign(context: Context, spec: NonNullable<BackendAuthSettings['jwtSign']>, path: Path): JwtSign | undefined {
  const key = signingKey(context, spec, path);
  if (key === undefined) return undefined;
  const location = credentialTarget(spec.location, bearerLocation);
  return { kind: 'jwtSign', signingKey: key, claims: spec.claims, ttlMs: spec.ttl, location };
}

function aws(context: Context, spec: AwsSpec, path: Path): AwsAuth | undefined {
  const credentials = awsCredentials(context, spec, path);
  if (credentials === undefined) return undefined;
  return { kind: 'aws', credentials, region: spec.region, serviceName: spec.serviceName };
}

function awsCredentials(context: Context, spec: AwsSpec, path: Path): AwsCredentialSource | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, assumeRole } = spec;
  if (assumeRole !== undefined) {
    const { roleArn, sessionName, tags } = assumeRole;
    return {
      kind: 'assumeRole',
      roleArn,
      sessionName: sessionName === undefined ? undefined : textOrExpression(sessionName),
      tags: tags.map((tag) => ({
        key: tag.key,
        value: textOrExpression(tag.expression === undefined ? (tag.value ?? '') : { expression: tag.expression }),
      })),
    };
  }
  if (accessKeyId === undefined || secretAccessKey === undefined) return { kind: 'ambient' };
  const secret = secretText(context, secretAccessKey, [...path, 'secretAccessKey']);
  const token = sessionToken && secretText(context, sessionToken, [...path, 'sessionToken']);
  if (secret === undefined || (sessionToken !== undefined && token === undefined)) return undefined;
  return { kind: 'static', accessKeyId, secretAccessKey: secret, sessionToken: token || undefined };
}

function textOrExpression(spec: string | { readonly expression: string }): TextOrExpression {
  return typeof spec === 'string' ? { kind: 'text', text: spec } : { kind: 'expression', expression: spec.expression };
}

function azure(context: Context, spec: AzureSpec, path: Path): BackendAuthKind | undefined {
  const source = azureSource(context, spec, path);
  return source && { kind: 'azure', source };
}

function azureSource(
  context: Context,
  { explicitConfig, developerImplicit }: AzureSpec,
  path: Path,
): AzureCredentialSource | undefined {
  if (developerImplicit !== undefined) return { kind: 'developerTools' };
  if (explicitConfig === undefined) return { kind: 'implicit' };
  const { clientSecret, managedIdentity } = explicitConfig;
  if (clientSecret !== undefined) {
    const at = [...path, 'explicitConfig', 'clientSecret', 'client_secret'];
    const secret = secretText(context, clientSecret.client_secret, at);
    const { tenant_id: tenantId, client_id: clientId } = clientSecret;
    return secret && { kind: 'clientSecret', tenantId, clientId, secret };
  }
  if (managedIdentity === undefined) return { kind: 'workloadIdentity' };
  return { kind: 'managedIdentity', identity: azureIdentity(managedIdentity.userAssignedIdentity ?? {}) };
}

function azureIdentity(spec: { readonly [K in AzureIdentity['kind']]?: string | undefined }):
  | AzureIdentity
  | undefined {
  for (const kind of ['clientId', 'objectId', 'resourceId'] as const) {
    const value = spec[kind];
    if (value !== undefined) return { kind, value };
  }
  return undefined;
}

function gcp(context: Context, spec: NonNullable<BackendAuthSettings['gcp']>, path: Path): GcpAuth | undefined {
  const token =
    spec.type === 'idToken'
      ? ({ kind: 'idToken', audience: spec.audience } as const)
      : ({ kind: 'accessToken' } as const);
  if (spec.credential === undefined) return { kind: 'gcp', token };
  const at = [...path, 'credential'];
  const credential = secretText(context, spec.credential, at);
  if (credential === undefined || !gcpCredential(context, { credential, idToken: token.kind === 'idToken' }, at))
    return undefined;
  return { kind: 'gcp', token, credential };
}
