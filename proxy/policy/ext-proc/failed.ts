import { type Refusal, refuse } from '../../exchange/refusal.ts';

/** The policy's kind in traces. */
export const KIND = 'ext_proc';

/** The service has failed, and that is not forgiven. */
export function failed(error: Error): Refusal {
  return refuse(500, 'ExtProc', `ext_proc failed: ${error.message}`);
}
