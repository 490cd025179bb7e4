import { Secret } from '../../../../src/shared/secret.ts';
import type { Cloud } from '../cloud.ts';
import { CredentialError } from '../failure.ts';
import type { AzureSource } from './compile.ts';
import { developerTools } from './developer-tools.ts';
import { clientSecret, workloadIdentity } from './entra.ts';
import { isAnnounced, managedIdentity, probe } from './managed-identity.ts';

const PROBE_MS = 1000;

/**
 * What the environment offers: a secret, the identity of a workload, that of the machine, that of a developer. The first
 * that works is kept.
 */
export function firstThatWorks(): AzureSource {
  let chosen: AzureSource | null = null;
  return async (cloud, scope) => {
    if (chosen !== null) return chosen(cloud, scope);
    const failures: unknown[] = [];
    for (const source of [fromSecret, workloadIdentity, fromMachine, developerTools]) {
      try {
        const token = await source(cloud, scope);
        chosen = source;
        return token;
      } catch (error) {
        failures.push(error);
      }
    }
    throw new CredentialError('the environment has no Azure credentials that work', {
      cause: new AggregateError(failures, ''),
    });
  };
}

const fromSecret: AzureSource = async (cloud, scope) => {
  const tenantId = cloud.env('AZURE_TENANT_ID');
  const clientId = cloud.env('AZURE_CLIENT_ID');
  const secret = cloud.env('AZURE_CLIENT_SECRET');
  if (tenantId === undefined || clientId === undefined || secret === undefined)
    throw new CredentialError('the environment has no Azure client secret');
  return clientSecret({ tenantId, clientId, secret: new Secret(secret) })(cloud, scope);
};

const fromMachine: AzureSource = async (cloud, scope) => {
  if (!isAnnounced(cloud)) await findMachine(cloud);
  return managedIdentity(assignedIn(cloud))(cloud, scope);
};

async function findMachine(cloud: Cloud): Promise<void> {
  try {
    await probe(cloud, PROBE_MS);
  } catch (error) {
    throw new CredentialError('the machine has no Azure metadata service', { cause: error });
  }
}

/** A user-assigned identity that the variables name. */
function assignedIn(cloud: Cloud): { readonly kind: 'clientId'; readonly value: string } | undefined {
  const value = cloud.env('AZURE_CLIENT_ID');
  return value === undefined ? undefined : { kind: 'clientId', value };
}
