import type { Secret } from '../../../shared/secret.ts';
import type { Path } from '../../load/problem.ts';
import type { Context } from '../context.ts';

/** Members that each kind of credential has to have, as texts. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  service_account: ['client_email', 'private_key'],
  authorized_user: ['client_id', 'client_secret', 'refresh_token'],
  external_account: ['audience', 'subject_token_type', 'token_url'],
  impersonated_service_account: ['service_account_impersonation_url'],
};

/** Checks a credential in JSON; false after a problem. Its members are never shown. */
export function gcpCredential(
  context: Context,
  { credential, idToken }: { readonly credential: Secret; readonly idToken: boolean },
  path: Path,
): boolean {
  const problem = problemOf(parse(credential.reveal()), idToken);
  if (problem !== null) context.report(path, 'GW_CONFIG_VALUE', problem);
  return problem === null;
}

function problemOf(json: Readonly<Record<string, unknown>> | null, idToken: boolean): string | null {
  if (json === null) return 'the credential is not a JSON object';
  const { type } = json;
  const required = typeof type === 'string' ? REQUIRED[type] : undefined;
  if (required === undefined) return `the credential's \`type\` has to be one of ${Object.keys(REQUIRED).join(', ')}`;
  const missing = required.find((name) => typeof json[name] !== 'string' || json[name] === '');
  if (missing !== undefined) return `the credential of type ${String(type)} needs \`${missing}\``;
  return idToken && type === 'external_account'
    ? 'a credential of type external_account gives no identity tokens'
    : null;
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    // `as`: any object may be read by key.
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
