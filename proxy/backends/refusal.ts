import { assertNever } from '../../src/shared/assert-never.ts';
import { refuse, type Refusal } from '../exchange/refusal.ts';
import { causeText } from './tls-failure.ts';
import type { UpstreamError } from './upstream.ts';

/** What the client is told when no upstream answered. Addresses stay out of it: they are for the log (`error.peer`). */
export function refusalOf(error: UpstreamError): Refusal {
  switch (error.kind) {
    case 'dns':
      return refuse(503, 'UpstreamFailure', 'backends required DNS resolution which failed');
    case 'connectTimeout':
      return refuse(504, 'Timeout', 'upstream call timeout');
    case 'connect':
    case 'tls':
    case 'reset':
    case 'protocol':
    case 'cancelled':
      return refuse(503, 'UpstreamFailure', `upstream call failed: ${error.message}`);
    default:
      return assertNever(error.kind);
  }
}

/** The same failure for the log, with the peer and every cause. */
export function explainFailure(error: UpstreamError): string {
  const peer = error.peer === null ? '' : `${error.peer}: `;
  const cause = error.cause === undefined ? '' : causeText(error.cause);
  return cause === '' || error.message.includes(cause)
    ? `${peer}${error.message}`
    : `${peer}${error.message} (${cause})`;
}

export const noHealthyBackends: Refusal = refuse(503, 'NoHealthyBackend', 'no healthy backends');
export const serviceNotFound: Refusal = refuse(500, 'Internal', 'service not found');
export const backendDoesNotExist: Refusal = refuse(500, 'Internal', 'backend does not exist');
export const invalidBackendType: Refusal = refuse(500, 'Internal', 'invalid backend type');
/** The expression of a dynamic backend gave no `host:port`. */
export const noDynamicTarget: Refusal = refuse(503, 'NoHealthyBackend', 'the dynamic backend has no target');
export const invalidDynamicTarget: Refusal = refuse(400, 'InvalidRequest', 'invalid request');
