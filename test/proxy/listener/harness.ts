import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { BufferedBody } from '../../../proxy/exchange/body.ts';
import type { ConnectionFacts } from '../../../proxy/exchange/connection.ts';
import type { RequestHandler } from '../../../proxy/exchange/exchange.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { HttpRequest } from '../../../proxy/exchange/message.ts';
import { Sweeper } from '../../../proxy/http1/sweeper.ts';
import { BoundPort } from '../../../proxy/listener/bind.ts';
import { compileBind } from '../../../proxy/listener/compiled.ts';
import type {
  Admit,
  ConnectionError,
  ConnectionLabels,
  DialTunnel,
  TcpRecord,
} from '../../../proxy/listener/contract.ts';
import { http1Service } from '../../../proxy/listener/http1.ts';
import type {
  Bind,
  FrontendHttp,
  FrontendPolicies,
  Listener,
  TcpRoute,
  TlsServer,
} from '../../../src/config/ir/index.ts';
import { Secret } from '../../../src/shared/secret.ts';

const fixtures = new URL('../../fixtures/tls/', import.meta.url);

export function fixture(name: string): string {
  return readFileSync(new URL(name, fixtures), 'utf8');
}

export function fixturePath(name: string): string {
  return new URL(name, fixtures).pathname;
}

export function tlsOf(name: string, more: Partial<TlsServer> = {}): TlsServer {
  return {
    mode: 'static',
    cert: { pem: fixture(`${name}.crt`), file: `/etc/gw/${name}.crt` },
    key: { pem: new Secret(fixture(`${name}.key`)), file: `/etc/gw/${name}.key` },
    ...more,
  };
}

export const ticketSecret = Buffer.alloc(32, 7);

type FrontendOverrides = Partial<Omit<FrontendPolicies, 'http' | 'tls'>> & {
  http?: Partial<FrontendHttp>;
  tls?: Partial<FrontendPolicies['tls']>;
};

export function frontend(overrides: FrontendOverrides = {}): FrontendPolicies {
  return {
    connect: { mode: 'deny' },
    accessLog: { add: [], remove: [] },
    ...overrides,
    http: {
      maxBufferSize: 2 * 1024 * 1024,
      http1MaxHeaders: 100,
      http1IdleTimeoutMs: 600_000,
      http1HeaderCase: 'lowercase',
      streamIdleTimeoutMs: 300_000,
      forwardedHeaders: 'off',
      ...overrides.http,
    },
    tls: { handshakeTimeoutMs: 15_000, ...overrides.tls },
  };
}

export function listener(name: string, protocol: Listener['protocol'], more: Partial<Listener> = {}): Listener {
  return {
    key: `default/${name}`,
    name,
    gatewayName: 'gw',
    gatewayNamespace: 'default',
    hostname: '',
    policies: {},
    protocol,
    routes: [],
    tcpRoutes: [],
    ...more,
  };
}

export function bindOf(protocol: Bind['protocol'], listeners: readonly Listener[], more: Partial<Bind> = {}): Bind {
  return {
    key: 'bind/0',
    address: '127.0.0.1:0',
    host: '127.0.0.1',
    port: 0,
    protocol,
    mode: 'standard',
    tunnelProtocol: 'direct',
    listeners,
    ...more,
  };
}

export function tcpRoute(name: string, hostnames: readonly string[], weights: readonly number[] = [1]): TcpRoute {
  return {
    key: `default/${name}`,
    name,
    namespace: 'default',
    hostnames,
    policies: {},
    backends: weights.map((weight, index) => ({ weight, index, target: { kind: 'invalid' }, policies: {} })),
  };
}

export interface Seen {
  readonly request: HttpRequest;
  readonly connection: ConnectionFacts;
}

/** A port with everything it reports kept, and a way to end it that proves that no connection is left. */
export class TestPort {
  readonly port: BoundPort;
  readonly errors: ConnectionError[] = [];
  readonly tcp: TcpRecord[] = [];
  readonly requests: Seen[] = [];
  readonly counts = { opened: 0, closed: 0, received: 0, sent: 0, handshakes: 0 };
  readonly labels: ConnectionLabels[] = [];
  readonly sweeper = new Sweeper(20);
  number = 0;
  #changed: (() => void)[] = [];
  #ids = 0;

  constructor(
    bind: Bind,
    options: {
      frontend?: FrontendPolicies;
      handler?: RequestHandler;
      dial?: DialTunnel;
      random?: number;
      admit?: Admit;
    } = {},
  ) {
    const handler = options.handler ?? echo;
    const notify = (): void => {
      for (const check of this.#changed) check();
    };
    this.port = new BoundPort(compileBind(bind, options.frontend ?? frontend(), ticketSecret), {
      serveHttp1: http1Service({ sweeper: this.sweeper }),
      handler: (request, connection, transport) => {
        this.requests.push({ request, connection });
        handler(request, connection, transport);
        notify();
      },
      dial: options.dial ?? (() => Promise.reject(new Error('nothing to dial'))),
      metrics: {
        connectionOpened: (labels) => {
          this.counts.opened += 1;
          this.labels.push(labels);
        },
        connectionClosed: () => {
          this.counts.closed += 1;
          notify();
        },
        bytesReceived: (_labels, bytes) => (this.counts.received += bytes),
        bytesSent: (_labels, bytes) => (this.counts.sent += bytes),
        tlsHandshake: () => (this.counts.handshakes += 1),
      },
      onTcpClosed: (record) => {
        this.tcp.push(record);
        notify();
      },
      onConnectionError: (error) => {
        this.errors.push(error);
        notify();
      },
      admit: options.admit ?? (() => true),
      random: () => options.random ?? 0,
      nextConnectionId: () => (this.#ids += 1),
    });
  }

  async open(): Promise<this> {
    this.number = await this.port.open({ reusePort: false });
    this.port.activate();
    return this;
  }

  /** Waits until something that the port reports makes `holds` true. */
  async until(holds: () => boolean): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        this.#changed = this.#changed.filter((one) => one !== check);
        resolve();
      };
      this.#changed.push(check);
    });
  }

  /** Every connection ends by itself; one that does not makes the test hang, and so fail. */
  async end(): Promise<void> {
    this.port.stopAccepting();
    await this.port.empty();
    this.sweeper.close();
  }

  async kill(): Promise<void> {
    this.port.destroy();
    await this.end();
  }
}

/** Answers with what was asked, and the body that came. */
export const echo: RequestHandler = (request, _connection, transport) => {
  const chunks: Uint8Array[] = [];
  request.body.pipe({
    onData: (chunk) => chunks.push(chunk),
    onEnd: () => {
      const lines = [`${request.method} ${request.scheme}://${request.authority}${request.target} ${request.version}`];
      for (const [name, value] of request.headers) lines.push(`${name}: ${value}`);
      const body = Buffer.concat([Buffer.from(`${lines.join('\n')}\n\n`), ...chunks]);
      transport.respond(
        { status: 200, headers: Headers.from([['content-type', 'text/plain']]), body: new BufferedBody(body) },
        () => {},
      );
    },
    onError: () => {},
  });
};

export function hasTool(tool: string): boolean {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // Tools that know no --version still exist.
    return !(typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT');
  }
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(command: string, parameters: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, parameters, { timeout: 20_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

/** A raw client; resolves with everything the server sent once the server has ended or reset the connection. */
export class RawClient {
  readonly socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiters: (() => void)[] = [];
  readonly closed: Promise<void>;

  constructor(port: number, options: { allowHalfOpen?: boolean } = {}) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: options.allowHalfOpen ?? false });
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      for (const waiter of this.#waiters) waiter();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => resolve());
    });
  }

  get received(): Buffer {
    return this.#received;
  }

  get text(): string {
    return this.#received.toString('latin1');
  }

  write(bytes: string | Uint8Array): this {
    this.socket.write(bytes);
    return this;
  }

  async until(holds: (text: string) => boolean): Promise<string> {
    if (!holds(this.text)) {
      await new Promise<void>((resolve) => {
        const waiter = (): void => {
          if (!holds(this.text)) return;
          this.#waiters = this.#waiters.filter((one) => one !== waiter);
          resolve();
        };
        this.#waiters.push(waiter);
      });
    }
    return this.text;
  }
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address: AddressInfo | string | null = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('not listening');
  return address.port;
}

/** A TCP server that greets each connection and then sends back what it gets. */
export async function echoServer(greeting = ''): Promise<{ port: number; close: () => void; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (greeting !== '') socket.write(greeting);
    socket.pipe(socket);
  });
  const port = await listen(server);
  return {
    port,
    sockets,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Connects the socket that a dial promises. */
export async function dialTo(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}
