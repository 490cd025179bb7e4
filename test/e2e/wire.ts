/** Upstreams and clients that look at the bytes of HTTP/1.1, and what must be left when they have gone. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';

import { eventually, type OpenServer, RawClient, tcpUpstream } from './clients.ts';
import { type RunningGateway, startGateway } from './gateway.ts';

export interface Closing {
  add<T extends { close(): unknown }>(thing: T): T;
}

export interface Facing extends RunningGateway {
  /** The port that clients connect to. */
  readonly http: number;
  /** A raw client, closed with everything else. */
  connect(bytes?: string | Uint8Array): RawClient;
  /** What the server sends until it closes the connection. */
  whole(bytes: string | Uint8Array): Promise<string>;
}

/** A gateway that sends everything to one upstream; `more` is YAML behind the routes. */
export async function gatewayTo(cleanup: Closing, port: number, more = ''): Promise<Facing> {
  return facing(cleanup, `routes: [{backends: [{host: "127.0.0.1:${port}"}]}]\n${more}`);
}

/** A gateway on port 80 of its configuration. */
export async function facing(
  cleanup: Closing,
  text: string,
  options: Parameters<typeof startGateway>[1] = {},
): Promise<Facing> {
  const running = cleanup.add(await startGateway(`gateways: {default: {port: 80}}\n${text}`, options));
  const http = running.port(80);
  const connect = (bytes?: string | Uint8Array): RawClient => {
    const client = new RawClient(http);
    cleanup.add({ close: () => client.socket.destroy() });
    return bytes === undefined ? client : client.write(bytes);
  };
  const whole = async (bytes: string | Uint8Array): Promise<string> => {
    const client = connect(bytes);
    await client.closed;
    return client.text;
  };
  return { ...running, http, connect, whole };
}

export interface RawUpstream extends OpenServer {
  /** Everything that ever came, of all connections. */
  readonly received: () => string;
}

/** Answers each request head (or whatever `wanted` finds) with fixed bytes, and keeps what it got. */
export async function answering(
  cleanup: Closing,
  answer: string | ((socket: Socket, request: string) => void),
  wanted = '\r\n\r\n',
): Promise<RawUpstream> {
  let all = '';
  const server = cleanup.add(
    await tcpUpstream((socket) => {
      let unread = '';
      socket.on('data', (chunk: Buffer) => {
        const text = chunk.toString('latin1');
        all += text;
        unread += text;
        for (let end = unread.indexOf(wanted); end !== -1; end = unread.indexOf(wanted)) {
          const request = unread.slice(0, end + wanted.length);
          unread = unread.slice(request.length);
          if (typeof answer === 'string') socket.write(answer, 'latin1');
          else answer(socket, request);
        }
      });
    }),
  );
  return { ...server, received: () => all };
}

export function okAnswer(body = 'ok', more = ''): string {
  return `HTTP/1.1 200 OK\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The body of a chunked message, or null while its last chunk is missing. */
export function unchunked(text: string): string | null {
  let body = '';
  for (let at = text.indexOf('\r\n\r\n') + 4; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}

/** Waits until a count has stopped to change, and gives its last value. */
export async function settled(what: string, count: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  await eventually(`${what} settles`, () => {
    const now = count();
    same = now === last ? same + 1 : 0;
    last = now;
    return same > 30;
  });
  return last;
}

/** No exchange is under way and no client is connected any more, as the admin interface tells. */
export async function nothingLeft(gateway: Pick<RunningGateway, 'admin'>): Promise<void> {
  await eventually('no task is left', async () => {
    const { workload } = (await (await fetch(`${gateway.admin}/debug/tasks`)).json()) as { workload: string[] };
    return workload.length > 0 && workload.every((line) => line.endsWith(': 0 connections'));
  });
}
