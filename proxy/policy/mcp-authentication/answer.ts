import { BufferedBody, emptyBody } from '../../exchange/body.ts';
import { Headers } from '../../exchange/headers.ts';
import type { Reason, Refusal } from '../../exchange/refusal.ts';
import type { Outcome } from '../contract.ts';

const POLICY = 'mcpAuthentication';

/** Pages of every origin may read these answers: they hold nothing that belongs to one user. */
export function corsHeaders(methods: string): readonly (readonly [string, string])[] {
  return [
    ['access-control-allow-origin', '*'],
    ['access-control-allow-methods', `${methods}, OPTIONS`],
    // Clients with a secret send the first one for a token, and all clients of MCP the last one.
    ['access-control-allow-headers', 'authorization, content-type, mcp-protocol-version'],
  ];
}

/** Answers depend on the host and the scheme that were asked for, so nothing on the way keeps them. */
const UNCACHED = ['cache-control', 'no-store'] as const;

export interface Answer {
  readonly status: number;
  /** Beside OPTIONS. */
  readonly methods: string;
  readonly type?: string | undefined;
  readonly headers?: readonly (readonly [string, string])[];
}

/** An answer of the gateway. */
export function answer(text: string, { status, methods, type = 'application/json', headers = [] }: Answer): Outcome {
  const all = Headers.from([
    ...(text === '' ? [] : [['content-type', type] as const]),
    ...corsHeaders(methods),
    UNCACHED,
    ...headers,
  ]);
  const body = text === '' ? emptyBody : new BufferedBody(Buffer.from(text));
  return { kind: 'respond', response: { status, headers: all, body }, policy: POLICY };
}

/** What a page asks before it sends the request. */
export function preflight(methods: string): Outcome {
  return answer('', { status: 200, methods });
}

export interface Failure {
  readonly status: number;
  readonly reason: Reason;
  readonly methods: string;
  /** RFC 6749 section 5.2 and RFC 7591 section 3.2.2; without one the body is empty. */
  readonly error?: string;
  readonly headers?: readonly (readonly [string, string])[];
}

/** A refusal in the words of OAuth; `message` is for the client and the log. */
export function failure(message: string, { status, reason, methods, error, headers = [] }: Failure): Outcome {
  const type = error === undefined ? [] : [['content-type', 'application/json'] as const];
  const refusal: Refusal = {
    status,
    reason,
    message,
    headers: Headers.from([...type, ...corsHeaders(methods), UNCACHED, ...headers]),
    ...(error === undefined ? { bodyless: true } : { body: errorBody(error, message) }),
  };
  return { kind: 'fail', refusal };
}

export function errorBody(error: string, description: string): Uint8Array {
  return Buffer.from(JSON.stringify({ error, error_description: description }));
}

/** RFC 9110 section 15.5.6. */
export function wrongMethod(method: string): Outcome {
  const message = `only ${method} is allowed here`;
  return failure(message, {
    status: 405,
    reason: 'InvalidRequest',
    methods: method,
    error: 'invalid_request',
    headers: [['allow', method]],
  });
}
