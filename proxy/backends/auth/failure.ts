import { messageOf } from '../../../src/shared/errors.ts';
import { refuse, type Refusal } from '../../exchange/refusal.ts';

/** Why a credential could not be made, in words that may be shown to clients; details for the log are its cause. */
export class CredentialError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CredentialError';
  }
}

/** It is the caller's own credential that was not taken. */
export class CallerError extends CredentialError {}

/** The place that was configured cannot hold the credential. */
export const cannotInsert: Refusal = refuse(
  503,
  'UpstreamFailure',
  'backend authentication failed: the credential cannot be written to its place',
);

/** The request lacks what the credential is made from. */
export const invalidRequest: Refusal = refuse(400, 'InvalidRequest', 'invalid request');

/** Why a credential could not be made, down to the first cause; for the log. */
export function causesOf(error: unknown): string | null {
  if (error instanceof AggregateError) return error.errors.map(withCauses).join('; ');
  if (!(error instanceof Error) || error.cause === undefined) return null;
  return error.cause instanceof AggregateError ? causesOf(error.cause) : withCauses(error.cause);
}

function withCauses(error: unknown): string {
  const causes = error instanceof CredentialError ? causesOf(error) : null;
  return causes === null ? messageOf(error) : `${messageOf(error)}: ${causes}`;
}

export function authFailed(error: unknown): Refusal {
  if (error instanceof CallerError) return invalidRequest;
  const reason = error instanceof CredentialError ? error.message : 'the credential could not be made';
  return refuse(500, 'Internal', `backend authentication failed: ${reason}`);
}
