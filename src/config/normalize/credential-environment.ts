import { Secret } from '../../shared/secret.ts';
import type { Context } from './context.ts';

/** What the tools of the clouds read, and the gateway in their place. */
const VARIABLES: readonly string[] = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_EC2_METADATA_DISABLED',
  'AWS_EC2_METADATA_SERVICE_ENDPOINT',
  'AWS_ENDPOINT_URL',
  'AWS_ENDPOINT_URL_STS',
  'AZURE_TENANT_ID',
  'AZURE_CLIENT_ID',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
  'AZURE_AUTHORITY_HOST',
  'AZURE_POD_IDENTITY_AUTHORITY_HOST',
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
  'MSI_ENDPOINT',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'GCE_METADATA_HOST',
  'CLOUDSDK_CONFIG',
  'GH_COPILOT_TOKEN',
  'COPILOT_GITHUB_TOKEN',
  'XDG_CONFIG_HOME',
];

/** The variables that are set; undefined when none is. */
export function credentialEnvironment({ host }: Context): Readonly<Record<string, Secret>> | undefined {
  const set = VARIABLES.flatMap((name) => {
    const value = host.env[name];
    return value === undefined || value === '' ? [] : [[name, new Secret(value)] as const];
  });
  return set.length === 0 ? undefined : Object.fromEntries(set);
}
