import type { GcpAuth } from '../../../../src/config/ir/index.ts';
import { GwError, messageOf } from '../../../../src/shared/errors.ts';
import type { Secret } from '../../../../src/shared/secret.ts';
import { limited } from '../cloud.ts';
import { type CloudDeps, cloudToken, hostOf } from '../cloud-token.ts';
import type { CredentialKind } from '../contract.ts';
import { ambient } from './ambient.ts';
import { credentialIn } from './credential.ts';
import { CLOUD_SCOPE, type GcpSource } from './source.ts';

/** A token of Google Cloud. Throws a `GwError` for a credential that is none. */
export function gcpToken({ token, credential }: GcpAuth, own: CloudDeps): CredentialKind {
  const { deps, cloud } = own;
  const source = credential === undefined ? ambient : configured(credential);
  if (token.kind === 'accessToken')
    return cloudToken(
      {
        what: 'access token of Google Cloud',
        scopeOf: () => CLOUD_SCOPE,
        fetch: async (scope) => source(limited(cloud), { kind: 'accessToken', scope }),
      },
      own,
    );
  return cloudToken(
    {
      what: 'identity token of Google Cloud',
      scopeOf: (exchange) => token.audience ?? `https://${hostOf(exchange, deps.backendHost)}`,
      fetch: async (audience) => source(limited(cloud), { kind: 'idToken', audience }),
    },
    own,
  );
}

function configured(credential: Secret): GcpSource {
  try {
    return credentialIn(credential.reveal());
  } catch (error) {
    throw new GwError(`backendAuth.gcp: ${messageOf(error)}`, { code: 'GW_POLICY_INVALID', cause: error });
  }
}
