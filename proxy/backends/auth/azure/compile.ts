import type { AzureAuth, AzureCredentialSource } from '../../../../src/config/ir/index.ts';
import { assertNever } from '../../../../src/shared/assert-never.ts';
import { type Cloud, limited } from '../cloud.ts';
import { type CloudDeps, cloudToken, hostOf } from '../cloud-token.ts';
import type { CredentialKind } from '../contract.ts';
import type { Expiring } from '../token-cache.ts';
import { developerTools } from './developer-tools.ts';
import { clientSecret, workloadIdentity } from './entra.ts';
import { firstThatWorks } from './implicit.ts';
import { managedIdentity } from './managed-identity.ts';

const SCOPE = 'https://cognitiveservices.azure.com/.default';
const FOUNDRY_SCOPE = 'https://ai.azure.com/.default';
const FOUNDRY_HOSTS = '.services.ai.azure.com';

/** Asks for a token with a scope. */
export type AzureSource = (cloud: Cloud, scope: string) => Promise<Expiring<string>>;

/** A token of Microsoft Entra ID for Azure's model services. */
export function azureToken({ source }: AzureAuth, own: CloudDeps): CredentialKind {
  const { deps, cloud } = own;
  const ask = sourceOf(source);
  const what = `token of Azure (${source.kind})`;
  return cloudToken(
    {
      what,
      scopeOf: (exchange) => (hostOf(exchange, deps.backendHost).endsWith(FOUNDRY_HOSTS) ? FOUNDRY_SCOPE : SCOPE),
      fetch: (scope) => ask(limited(cloud), scope),
    },
    own,
  );
}

function sourceOf(source: AzureCredentialSource): AzureSource {
  switch (source.kind) {
    case 'clientSecret':
      return clientSecret(source);
    case 'workloadIdentity':
      return workloadIdentity;
    case 'managedIdentity':
      return managedIdentity(source.identity);
    case 'developerTools':
      return developerTools;
    case 'implicit':
      return firstThatWorks();
    default:
      return assertNever(source);
  }
}
