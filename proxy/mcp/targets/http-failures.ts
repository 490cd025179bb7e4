import type { HttpResponse } from '../../exchange/message.ts';
import type { TargetFailure } from './contract.ts';
import type { HttpAnswer } from './http-caller.ts';

export function succeeded(response: HttpResponse): boolean {
  return response.status >= 200 && response.status < 300;
}

export function broken(message: string): TargetFailure {
  return { kind: 'broken', message };
}

/** A status that is no success; the body is for whoever gets the failure. */
export function httpFailure(response: HttpResponse): TargetFailure {
  const { status } = response;
  return { kind: 'http', status, response, message: `the target answered with status ${status}` };
}

/** Nobody wants it any more. */
export function discard(outcome: HttpAnswer | TargetFailure): void {
  if (outcome.kind === 'answer') outcome.response.body.cancel();
}
