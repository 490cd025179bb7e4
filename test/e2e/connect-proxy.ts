/** An HTTP proxy: tunnels by CONNECT, and requests with a whole address, which it forwards. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { fixture } from './clients.ts';

export interface Asked {
  readonly method: string;
  /** What stands in the request line. */
  readonly target: string;
  readonly host: string | undefined;
  readonly credential: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

export interface ConnectProxy {
  readonly port: number;
  readonly asked: readonly Asked[];
  /** Connections that came. */
  readonly connections: () => number;
  close(): void;
}

export interface ConnectProxyOptions {
  /** Certificate of the fixtures; plaintext without one. */
  readonly certificate?: string;
  /** What has to be in `proxy-authorization`. */
  readonly credential?: string;
  /** The names that only this proxy knows. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** Status of every answer to CONNECT. */
  readonly refuses?: number;
  readonly host?: string;
}

export async function connectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const asked: Asked[] = [];
  const sockets = new Set<Duplex>();
  let connections = 0;
  const keep = (socket: Duplex): void => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const note = ({ method = '', url = '', headers }: IncomingMessage): boolean => {
    const credential = headers['proxy-authorization'];
    asked.push({ method, target: url, host: headers.host, credential, headers });
    return options.credential === undefined || credential === options.credential;
  };
  const server: Server =
    options.certificate === undefined
      ? createServer()
      : createHttpsServer({ cert: fixture(`${options.certificate}.crt`), key: fixture(`${options.certificate}.key`) });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    keep(socket);
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    keep(client);
    if (!note(request)) {
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n',
      );
      return;
    }
    if (options.refuses !== undefined) {
      client.end(`HTTP/1.1 ${options.refuses} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = addressOf(`tcp://${request.url}`, options.hosts);
    const upstream = connect({ host: hostname, port }, () => {
      client.write('HTTP/1.1 200 Connection Established\r\nVia: test\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    keep(upstream);
    upstream.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
    client.on('close', () => upstream.destroy());
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    forward(request, response, { note, options }),
  );
  server.listen(0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  return {
    // `as`: a TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    asked,
    connections: () => connections,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { note, options }: { note: (request: IncomingMessage) => boolean; options: ConnectProxyOptions },
): void {
  if (!note(request)) {
    response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
    return;
  }
  const url = request.url ?? '';
  if (!url.startsWith('http://')) {
    response.writeHead(400).end('not a proxy request');
    return;
  }
  const { hostname, port } = addressOf(url, options.hosts);
  const { 'proxy-authorization': _credential, ...headers } = request.headers;
  const outgoing = httpRequest(
    { host: hostname, port, method: request.method, path: url.replace(/^http:\/\/[^/]*/, '') || '*', headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on('error', () => response.writeHead(502).end());
  request.pipe(outgoing);
}

function addressOf(text: string, hosts: ConnectProxyOptions['hosts'] = {}): { hostname: string; port: number } {
  const url = new URL(text);
  const name = url.hostname.replace(/^\[|\]$/g, '');
  return { hostname: hosts[name] ?? name, port: Number(url.port === '' ? 80 : url.port) };
}
