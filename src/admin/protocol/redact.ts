import { REDACTED } from '../../shared/secret.ts';
import { isObject, type JsonObject } from './lenient.ts';
import type { TraceEvent } from './trace-event.ts';

const SECRET_NAMES =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|x-auth-token|x-amz-security-token|authentication|mcp-session-id)$|secret|token|password|passwd|credential|api[-_]?key|signature/i;

/** Variables that describe who somebody is. */
const IDENTITY = new Set(['jwt', 'apiKey', 'basicAuth', 'extauthz', 'oidc']);
/** Policies whose outcome text names claims or users. */
const IDENTITY_POLICIES = new Set(['jwt', 'api_key', 'basic_auth', 'ext_auth', 'oidc']);

export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(name);
}

/** The event without credentials, cookies, identities, query values and bodies, for showing to others. */
export function redactEvent(event: TraceEvent): TraceEvent {
  // Redaction replaces values by texts and keeps the shape, so the result is an event again.
  return {
    ...event,
    message: redactObject(redactOutcome(event.message as unknown as JsonObject)) as unknown as TraceEvent['message'],
  };
}

function redactOutcome(message: JsonObject): JsonObject {
  const { result, details, kind } = message;
  // What a tool says of its failure is its answer.
  if (message['isError'] === true && 'error' in message) return { ...message, error: REDACTED };
  if (typeof kind !== 'string' || !IDENTITY_POLICIES.has(kind)) return message;
  if (isObject(result) && 'details' in result) return { ...message, result: { ...result, details: REDACTED } };
  return details === undefined ? message : { ...message, details: REDACTED };
}

function redactObject(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactField(key, inner)]));
}

function redactField(key: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (key === 'body' || IDENTITY.has(key) || isSecretName(key)) return REDACTED;
  if (typeof value === 'string') return /^(uri|path|pathAndQuery|query|target)$/.test(key) ? redactQuery(value) : value;
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? redactObject(item) : item));
  return isObject(value) ? redactObject(value) : value;
}

/** `/a?page=2&key=x` keeps its names: `/a?page=<redacted>&key=<redacted>`. */
export function redactQuery(text: string): string {
  const at = text.indexOf('?');
  if (at === -1) return text;
  return text.slice(0, at + 1) + text.slice(at + 1).replaceAll(/=[^&#]*/g, `=${REDACTED}`);
}
