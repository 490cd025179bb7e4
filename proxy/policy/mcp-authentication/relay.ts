import { messageOf } from '../../../src/shared/errors.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Patience } from '../../exchange/patience.ts';
import type { DirectAnswer } from '../../services/direct-call.ts';
import type { Outcome } from '../contract.ts';
import { answer, failure } from './answer.ts';
import { callProvider, ProviderError } from './provider.ts';

/** What of a provider's answer reaches the client, beside status and body (RFC 6749 section 5.2). */
const PASSED_ON = ['www-authenticate', 'retry-after'] as const;

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Calls under way at a time: whoever asks has shown no credential yet, and each call takes a connection. */
const MAX_CALLS = 128;

/** Sends bodies of clients to one provider, and its answers back. */
export class Relay {
  #calls = 0;

  async send(exchange: Exchange, post: Post, patience: Patience): Promise<Outcome> {
    if (this.#calls >= MAX_CALLS) return busy();
    this.#calls += 1;
    try {
      return await relay(exchange, post, patience);
    } finally {
      this.#calls -= 1;
    }
  }
}

function busy(): Outcome {
  return failure('too many clients are waiting for the provider', {
    status: 503,
    reason: 'MCP',
    methods: 'POST',
    error: 'temporarily_unavailable',
    headers: [['retry-after', '1']],
  });
}

async function relay(exchange: Exchange, post: Post, patience: Patience): Promise<Outcome> {
  const trace = exchange.trace?.scoped('mcp') ?? null;
  try {
    return passedOn(await callProvider({ method: 'POST', ...post }, { trace, signal: patience.signal }));
  } catch (error) {
    if (patience.refusal !== null) return { kind: 'fail', refusal: patience.refusal };
    const late = error instanceof ProviderError && error.late;
    return failure(messageOf(error), {
      status: late ? 504 : 502,
      reason: late ? 'Timeout' : 'UpstreamFailure',
      methods: 'POST',
      error: 'temporarily_unavailable',
    });
  }
}

function passedOn({ status, headers, text }: DirectAnswer): Outcome {
  if (status < 200 || (status >= 300 && status < 400))
    return failure(`the provider answered with status ${status}`, {
      status: 502,
      reason: 'UpstreamFailure',
      methods: 'POST',
      error: 'server_error',
    });
  return answer(text, {
    status,
    methods: 'POST',
    type: headers['content-type'],
    headers: PASSED_ON.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  });
}
