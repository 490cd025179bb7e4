import { isJsonObject, type JsonObject, type JsonValue } from '../../exchange/attributes.ts';
import { readObject, readObjectText } from '../../jwt/compact.ts';
import type { CloudResponse } from './cloud.ts';
import { CredentialError } from './failure.ts';

/** RFC 6749 appendix A.12: what a token is made of. */
const TOKEN = /^[\u0020-\u007e]+$/;
/** A word that is longer than this may be a credential. */
const SECRET_WORD = /[^\s,;:'"()<>]{25,}/g;
const MAX_DESCRIPTION = 200;

/** A JSON object that was answered; `who` names who answered. Throws a `CredentialError`. */
export function readAnswer(text: string, who: string): JsonObject {
  const answer = readObjectText(text);
  if (answer === null) throw new CredentialError(`${who} did not answer with a JSON object`);
  return answer;
}

/** A member that has to be a token. Throws a `CredentialError`. */
export function tokenIn(answer: JsonObject, name: string, who: string): string {
  const token = answer[name];
  if (typeof token === 'string' && TOKEN.test(token)) return token;
  throw new CredentialError(`${who} gave no token`);
}

/** When something ends that is good for a number of seconds, which some services write as a text; null when it is none. */
export function endOf(seconds: JsonValue | undefined, nowMs: number): number | null {
  const count = secondsOf(seconds);
  return count === null ? null : nowMs + count * 1000;
}

/** A number, or the text of one. */
export function secondsOf(seconds: JsonValue | undefined): number | null {
  if (typeof seconds !== 'number' && typeof seconds !== 'string') return null;
  const count = typeof seconds === 'string' && seconds.trim() === '' ? Number.NaN : Number(seconds);
  return Number.isFinite(count) ? count : null;
}

/** The time at which a JSON Web Token ends by its own word (nobody has verified it), epoch milliseconds; else null. */
export function claimedEnd(token: string): number | null {
  const exp = claimsOf(token)?.['exp'];
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : null;
}

/** Claims of a JSON Web Token that nobody has verified; null when it is none. */
export function claimsOf(token: string): JsonObject | null {
  const [, payload, , more] = token.split('.', 4);
  return payload === undefined || more !== undefined ? null : readObject(payload);
}

/**
 * Why a service refused, for logs and traces: the error of RFC 6749 section 5.2, or that of a Google API, printable, of
 * bounded length, and without what could be a credential. Null when it does not say.
 */
function refusalIn(text: string, secrets: readonly string[]): string | null {
  const answer = readObjectText(text);
  if (answer === null) return null;
  const { error } = answer;
  const told = isJsonObject(error) ? [error['status'], error['message']] : [error, answer['error_description']];
  const words = told.filter((part) => typeof part === 'string' && part !== '').join(': ');
  return words === '' ? null : tamed(without(words, secrets));
}

/** Parameters of token requests that are not for anybody to read. */
const SECRET_PARAMETERS: ReadonlySet<string> = new Set([
  'subject_token',
  'actor_token',
  'assertion',
  'client_secret',
  'client_assertion',
  'refresh_token',
]);

/** What must not be shown of a form that was sent. */
export function secretsIn(form: URLSearchParams): string[] {
  return [...form].flatMap(([name, value]) => (SECRET_PARAMETERS.has(name) ? [value] : []));
}

/** Why a service that was sent `secrets` refused, as the cause of an error; it goes to the log. */
export function causeIn(text: string, secrets: readonly string[]): { readonly cause?: Error } {
  const why = refusalIn(text, secrets);
  return why === null ? {} : { cause: new Error(why) };
}

/** `who` did not give a token; its words go to the log. */
export function refused(who: string, { status, text }: CloudResponse, secrets: readonly string[]): CredentialError {
  return new CredentialError(`${who} answered ${status}`, causeIn(text, secrets));
}

/** Services like to quote what they do not take. */
function without(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => (secret === '' ? left : left.replaceAll(secret, '***')), text);
}

function tamed(text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e]+/g, ' ').replaceAll(SECRET_WORD, '***');
  return plain.length > MAX_DESCRIPTION ? `${plain.slice(0, MAX_DESCRIPTION)}…` : plain;
}
