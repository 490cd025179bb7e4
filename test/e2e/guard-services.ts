import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { fixture } from './clients.ts';
import { upstream } from './gateway.ts';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** What a guard service does with a question. */
export type Reply = (asked: Asked, response: ServerResponse) => unknown;

/** Answers with JSON. */
export const says =
  (body: unknown, status = 200): Reply =>
  (_asked, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export interface GuardService {
  readonly port: number;
  readonly asked: Asked[];
  close(): unknown;
}

/** A service over plain HTTP; `reply` decides about each question. */
export async function guardService(reply: Reply): Promise<GuardService> {
  const asked: Asked[] = [];
  const server = await upstream(listener(asked, reply));
  return { port: server.port, asked, close: () => server.close() };
}

/** A cloud: every name behind this proxy is the same service, over TLS. */
export async function cloud(reply: Reply): Promise<GuardService> {
  const asked: Asked[] = [];
  const server = createHttpsServer({ cert: fixture('a.crt'), key: fixture('a.key') }, listener(asked, reply));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const sockets = new Set<Socket>();
  const proxy = createServer().on('connect', (_request, client: Socket, head: Buffer) => {
    const behind = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      behind.write(head);
      behind.pipe(client).pipe(behind);
    });
    for (const socket of [client, behind]) sockets.add(socket.on('error', () => {}));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    asked,
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function listener(asked: Asked[], reply: Reply): RequestListener {
  return (request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const question = { method, url, host: headers.host ?? '', headers, text, json: JSON.parse(text || '{}') };
      asked.push(question);
      reply(question, response);
    });
  };
}
