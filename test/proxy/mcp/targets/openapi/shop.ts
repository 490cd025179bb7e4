import { readFileSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

import { parse } from 'yaml';

import { Headers } from '../../../../../proxy/exchange/headers.ts';
import { PushBody } from '../../../../../proxy/exchange/push-body.ts';
import type { TargetCall, TargetConnection, TargetFailure } from '../../../../../proxy/mcp/targets/contract.ts';
import type { HttpCaller } from '../../../../../proxy/mcp/targets/http-caller.ts';
import type { RpcMessage } from '../../../../../proxy/mcp/message/message.ts';
import type { JsonObject } from '../../../../../src/shared/json.ts';
import { untraced } from '../../../exchange/build.ts';

export function petShop(): JsonObject {
  return parse(readFileSync(new URL('./pet-shop.yaml', import.meta.url), 'utf8'));
}

export interface Got {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A service that keeps what it was asked, and answers as it is told. */
export async function service() {
  const got: Got[] = [];
  const reply: { status: number; headers: Record<string, string>; body: string | Buffer } = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"ok":true}',
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await read(request);
    got.push({ line: `${request.method} ${request.url}`, headers: request.headers, body: body.toString('latin1') });
    response.writeHead(reply.status, reply.headers).end(reply.body);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return { got, reply, port, close: () => new Promise((resolve) => server.close(resolve)) };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // what a request without an encoding yields
  return Buffer.concat(chunks);
}

/** Sends over node's own client. */
export function nodeCaller(port: number): HttpCaller {
  return {
    send({ method, target, headers, body }) {
      const sent = httpRequest({
        host: '127.0.0.1',
        port,
        method,
        path: target,
        headers: Object.fromEntries(headers),
        agent: false,
      });
      const outcome = new Promise<Awaited<ReturnType<HttpCaller['send']>['outcome']>>((resolve) => {
        sent.on('error', (error) => resolve({ kind: 'broken', message: error.message }));
        sent.on('response', (answer) => {
          const out = new PushBody();
          answer.on('data', (chunk: Buffer) => out.push(chunk));
          answer.on('end', () => out.end());
          answer.on('error', (error) => out.fail(error));
          const fields = Object.entries(answer.headersDistinct).flatMap(([name, values]) =>
            (values ?? []).map((value) => [name, value] as const),
          );
          const response = { status: answer.statusCode ?? 0, headers: Headers.from(fields), body: out };
          resolve({ kind: 'answer', response, pinned: undefined, origin: '' });
        });
      });
      sent.end(body ?? undefined);
      return { outcome, cancel: () => sent.destroy() };
    },
  };
}

export interface Said {
  readonly messages: RpcMessage[];
  readonly failure: TargetFailure | null;
}

/** Everything that comes for one request. */
export function said(
  connection: TargetConnection,
  method: string,
  params?: JsonObject,
  client: readonly [string, string][] = [],
  version: string | null = null,
) {
  const call: TargetCall = { exchange: untraced(), trace: null, headers: Headers.from(client), version };
  const messages: RpcMessage[] = [];
  return new Promise<Said>((resolve) => {
    connection.request({ kind: 'request', id: 7, method, params }, call, {
      onMessage: (message) => messages.push(message),
      onEnd: (failure) => resolve({ messages, failure }),
    });
  });
}
