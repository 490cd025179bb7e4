import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';

import type { Resolver } from '../../../proxy/backends/dns.ts';
import { OriginTemplate } from '../../../proxy/backends/origin.ts';
import { TlsContexts } from '../../../proxy/backends/origin-tls.ts';
import { createUpstreamPools, type PoolSet, type UpstreamPoolsOptions } from '../../../proxy/backends/pools.ts';
import type { Origin, OriginAddress, UpstreamRequest, UpstreamResponse } from '../../../proxy/backends/upstream.ts';
import { type Body, emptyBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { BackendHttp, BackendTls } from '../../../src/config/ir/index.ts';

export const backendDefaults = {
  keepalives: { enabled: true, timeMs: 180_000, intervalMs: 180_000, retries: 9 },
  connectTimeoutMs: 10_000,
  poolIdleTimeoutMs: 90_000,
};

export const contexts = new TlsContexts();

/** Resolves every name to the given addresses. */
export function fixedResolver(...addresses: string[]): Resolver {
  return { resolve: (host) => Promise.resolve(/^[\d.]+$|:/.test(host) ? [host] : addresses) };
}

/** Servers and pools of one test; `end` closes them all. */
export class Rig {
  readonly #ends: (() => void)[] = [];

  pools(options: Partial<UpstreamPoolsOptions> = {}): PoolSet {
    const pools = createUpstreamPools({ resolver: fixedResolver('127.0.0.1'), poolIdleTimeoutMs: 90_000, ...options });
    this.#ends.push(() => pools.close());
    return pools;
  }

  async listen(server: Server, host: string | { path: string } = '127.0.0.1'): Promise<number> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    server.listen(typeof host === 'string' ? { port: 0, host } : host);
    await once(server, 'listening');
    this.#ends.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    const address = server.address();
    return typeof address === 'object' ? (address as AddressInfo).port : 0;
  }

  /** A server that answers each connection by hand. */
  raw(onConnection: (socket: Socket, index: number) => void, host?: string): Promise<number> {
    let count = 0;
    return this.listen(
      createNetServer((socket) => {
        socket.on('error', () => {});
        onConnection(socket, count++);
      }),
      host,
    );
  }

  cleanup(end: () => void): void {
    this.#ends.push(end);
  }

  end(): void {
    for (const end of this.#ends.splice(0).toReversed()) end();
  }
}

export interface OriginChoice {
  readonly tls?: BackendTls;
  readonly http?: BackendHttp;
  readonly connectTimeoutMs?: number;
}

export function originOf(to: number | OriginAddress, choice: OriginChoice = {}): Origin {
  const address: OriginAddress = typeof to === 'number' ? { kind: 'tcp', host: '127.0.0.1', port: to } : to;
  const { connectTimeoutMs, ...rest } = choice;
  const settings = {
    ...rest,
    ...(connectTimeoutMs === undefined ? {} : { tcp: { connectTimeoutMs } }),
    defaults: backendDefaults,
    contexts,
  };
  const version = choice.http?.version;
  return new OriginTemplate(settings).http(
    address,
    version === undefined ? 'auto' : version === 'HTTP/2.0' ? 'http2' : 'http1',
  );
}

export function requestTo(target: string, overrides: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: 'GET',
    scheme: 'http',
    authority: 'upstream.test',
    target,
    headers: new Headers(),
    body: emptyBody,
    upgrade: null,
    ...overrides,
  };
}

export interface Received {
  readonly text: string;
  readonly trailers: Headers | null;
}

export function readBody(body: Body): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    body.pipe({
      onData: (chunk) => void chunks.push(Uint8Array.from(chunk)),
      onEnd: (trailers) => resolve({ text: Buffer.concat(chunks).toString(), trailers }),
      onError: reject,
    });
  });
}

export async function fetchText(pools: PoolSet, origin: Origin, request = requestTo('/')): Promise<string> {
  const response: UpstreamResponse = await pools.send(origin, request).response;
  const { text } = await readBody(response.body);
  return `${response.status} ${text}`;
}

const fixtures = new URL('../../fixtures/tls/', import.meta.url);

/** A file of `test/fixtures/tls`. */
export function pem(name: string): string {
  return readFileSync(new URL(name, fixtures), 'utf8');
}
