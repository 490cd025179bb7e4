/** A token endpoint that notes what it is asked, and answers as a test says. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

import { type Cleanup, upstream } from './gateway.ts';

export interface TokenCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Parameters in their order. */
  readonly form: [name: string, value: string][];
}

export interface TokenEndpoint {
  readonly port: number;
  readonly origin: string;
  readonly calls: TokenCall[];
  /** What is answered; a text stands for itself, anything else is JSON. */
  answer: (call: TokenCall, response: ServerResponse) => unknown;
  close(): Promise<void>;
}

/** Hands out numbered tokens until a test says otherwise. */
export async function tokenEndpoint(
  cleanup: Cleanup,
  answer: TokenEndpoint['answer'] = numbered(),
): Promise<TokenEndpoint> {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    const call = { method, url, headers, body, form: [...new URLSearchParams(body)] };
    endpoint.calls.push(call);
    const answered = await endpoint.answer(call, response);
    if (answered === undefined || response.writableEnded) return;
    response.end(typeof answered === 'string' ? answered : JSON.stringify(answered));
  };
  const server = cleanup.add(
    await upstream((request, response) => void handle(request, response).catch(() => response.destroy())),
  );
  const endpoint: TokenEndpoint = { ...server, origin: `http://127.0.0.1:${server.port}`, calls: [], answer };
  return endpoint;
}

/** One answer with a status. */
export function answering(status: number, body: unknown): TokenEndpoint['answer'] {
  return (_call, response) => {
    response.statusCode = status;
    return body;
  };
}

function numbered(): TokenEndpoint['answer'] {
  let count = 0;
  return () => ({ access_token: `token-${++count}`, token_type: 'Bearer', expires_in: 3600 });
}
