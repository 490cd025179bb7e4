import type { DirectResponse } from '../../../src/config/ir/index.ts';
import { BufferedBody, emptyBody } from '../../exchange/body.ts';
import { Headers } from '../../exchange/headers.ts';
import type { PolicyContext, RequestStep } from '../contract.ts';
import { invalidPolicy } from '../invalid-policy.ts';

/** Answers with a fixed status and body. Throws `GW_POLICY_INVALID` for what is not a final status. */
export function directResponse(spec: DirectResponse, context: PolicyContext): RequestStep {
  if (!Number.isInteger(spec.status) || spec.status < 200 || spec.status > 999) {
    throw invalidPolicy(context.source, 'directResponse', `${spec.status} is not the status of an answer`);
  }
  // RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5: these have no content.
  const empty = spec.body.byteLength === 0 || spec.status === 204 || spec.status === 205 || spec.status === 304;
  const body = empty ? emptyBody : new BufferedBody(spec.body);
  const details = `${spec.status} with ${body.length} bytes (from ${context.source})`;
  return (exchange) => {
    if (exchange.trace !== null) exchange.trace.applied('direct_response', details);
    return {
      kind: 'respond',
      response: { status: spec.status, headers: new Headers(), body },
      policy: 'directResponse',
    };
  };
}
