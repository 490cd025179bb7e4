import { ownersOf } from '../../../src/config/api-keys.ts';
import type {
  ApiKeyAuth,
  Authorization,
  BackendPolicies,
  BasicAuth,
  CredentialLocation,
  RoutePolicies,
} from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { REDACTED } from '../../../src/shared/secret.ts';
import { tokenPolicies } from './token-policies.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Policies about who calls and what they may do, in the words of the configuration, without what would let others in. */
export function callerPolicies(policies: RoutePolicies & BackendPolicies): [string, unknown][] {
  const { cors, csrf, basicAuth, apiKey, authorization } = policies;
  return [
    ['cors', cors && { ...cors, maxAgeMs: undefined, maxAge: cors.maxAgeMs && formatDuration(cors.maxAgeMs) }],
    ['csrf', csrf],
    ...tokenPolicies(policies, place),
    ['basicAuth', basicAuth && passwords(basicAuth)],
    ['apiKey', apiKey && keys(apiKey)],
    ['authorization', authorization && shownRules(authorization)],
  ];
}

function passwords({ mode, realm, location, users }: BasicAuth): Shown {
  const htpasswd = users.map(({ name }) => `${name}:${REDACTED}`).join('\n');
  return { htpasswd, realm, mode, authorizationLocation: place(location) };
}

function keys({ mode, location, keys: packed }: ApiKeyAuth): Shown {
  return {
    keys: ownersOf(packed).map((owner) => ({ keyHash: REDACTED, ...owner })),
    mode,
    location: place(location),
  };
}

/** Rules as the configuration has them; those of several resources together, each with its own. */
export function shownRules({ rules: list }: Authorization): Shown {
  return {
    rules: list.map(({ mode, expression, source }) => ({
      [mode]: expression,
      ...(source === undefined ? {} : { source }),
    })),
  };
}

function place(location: CredentialLocation): Shown {
  if (location.kind === 'expression') return { expression: location.expression };
  if (location.kind === 'anyOf') return { anyOf: location.targets.map(place) };
  const { kind, ...settings } = location;
  return { [kind]: settings };
}
