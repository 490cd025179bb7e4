import { createPrivateKey } from 'node:crypto';

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

type Json = Readonly<Record<string, unknown>>;

function problemOf(json: Json | null, idToken: boolean): string | null {
  if (json === null) return 'the credential is not a JSON object';
  const { type } = json;
  const required = typeof type === 'string' ? REQUIRED[type] : undefined;
  if (required === undefined) return `the credential's \`type\` has to be one of ${Object.keys(REQUIRED).join(', ')}`;
  const missing = required.find((name) => typeof json[name] !== 'string' || json[name] === '');
  if (missing !== undefined) return `the credential of type ${String(type)} needs \`${missing}\``;
  if (idToken && type === 'external_account') return 'a credential of type external_account gives no identity tokens';
  if (type === 'service_account' && !isPrivateKey(json['private_key']))
    return "the credential's `private_key` is no RSA key in PEM form";
  return sourceProblem(json);
}

/** What is asked for the token that another is made from. */
function sourceProblem({ type, credential_source: source, source_credentials: own }: Json): string | null {
  if (type === 'external_account') {
    const { file, url, environment_id: environment } = jsonObject(source) ?? {};
    const known = typeof file === 'string' || (typeof url === 'string' && environment === undefined);
    return known ? null : "the credential's `credential_source` has to name a `file` or a `url`";
  }
  if (type !== 'impersonated_service_account') return null;
  const inner = jsonObject(own);
  if (inner === null || inner['type'] === type)
    return "the credential's `source_credentials` have to be a credential of another type";
  return problemOf(inner, false);
}

function isPrivateKey(pem: unknown): boolean {
  try {
    return createPrivateKey(String(pem)).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function parse(text: string): Json | null {
  try {
    return jsonObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function jsonObject(value: unknown): Json | null {
  // `as`: any object may be read by key.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}
