import { lstat, unlink } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';

import type { ListenAddress } from '../../src/config/ir/index.ts';
import { GwError, systemCodeOf } from '../../src/shared/errors.ts';

export interface LocalServerOptions {
  /** What it serves, for messages: `admin`. */
  readonly name: string;
  /** The setting that moves it, for hints: `config.adminAddr`. */
  readonly setting: string;
  readonly address: ListenAddress;
  readonly handle: RequestListener;
  /** Runs for every connection before HTTP is read. */
  readonly onServer?: ((server: Server) => void) | undefined;
}

const HEADER_TIMEOUT_MS = 2000;
const MAX_HEADER_BYTES = 8192;
const MAX_CONNECTIONS = 256;
/** For answers under way when a server closes. */
const CLOSE_MS = 500;

/** A small HTTP server on one of the local addresses: loopback (both families), one address, a unix socket, or none. */
export class LocalServer {
  readonly #servers: Server[] = [];
  #port: number | null = null;
  #path: string | null = null;

  private constructor() {}

  static async open(options: LocalServerOptions): Promise<LocalServer> {
    const local = new LocalServer();
    try {
      await local.#open(options);
      return local;
    } catch (error) {
      await local.close();
      throw explain(error, options);
    }
  }

  /** Where it listens, as a client would write it; null when it is off. */
  get address(): string | null {
    if (this.#path !== null) return `unix:${this.#path}`;
    const bound = this.#servers[0]?.address();
    if (this.#port === null || bound === null || bound === undefined || typeof bound === 'string') return null;
    return bound.family === 'IPv6' ? `[${bound.address}]:${this.#port}` : `${bound.address}:${this.#port}`;
  }

  /** Refuses new connections; answers that are under way still get a moment to reach their clients. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(closeServer));
    this.#servers.length = 0;
  }

  async #open(options: LocalServerOptions): Promise<void> {
    const { address } = options;
    if (address.kind === 'off') return;
    if (address.kind === 'unix') {
      await removeStaleSocket(address.path);
      await this.#listen(options, { path: address.path });
      this.#path = address.path;
      return;
    }
    this.#port = address.port;
    for (const [at, host] of address.hosts.entries()) {
      const opened = await this.#tryListen(options, { host, required: at === 0 });
      const bound = opened?.address();
      if (bound !== null && bound !== undefined && typeof bound !== 'string') this.#port = bound.port;
    }
  }

  /** A second loopback family that the machine lacks is no failure. */
  async #tryListen(options: LocalServerOptions, where: { host: string; required: boolean }): Promise<Server | null> {
    try {
      return await this.#listen(options, { host: where.host, port: this.#port ?? 0 });
    } catch (error) {
      const lacking = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(systemCodeOf(error) ?? '');
      if (!where.required && lacking) return null;
      throw error;
    }
  }

  #listen(options: LocalServerOptions, where: { path: string } | { host: string; port: number }): Promise<Server> {
    const server = createServer(
      { headersTimeout: HEADER_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: 500 },
      options.handle,
    );
    server.maxConnections = MAX_CONNECTIONS;
    server.keepAliveTimeout = 5000;
    server.on('request', (_request, response) => {
      // A connection that was busy when the server closed would be kept for a next request.
      response.once('close', () => !server.listening && server.closeIdleConnections());
    });
    options.onServer?.(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(where, () => {
        server.removeListener('error', reject);
        server.on('error', () => {});
        this.#servers.push(server);
        resolve(server);
      });
    });
  }
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket()) {
    throw new GwError(`${path} exists and is not a socket`, {
      code: 'GW_ADDRESS',
      hint: 'choose another path or remove the file',
    });
  }
  await unlink(path);
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  await closed;
  clearTimeout(cut);
}

function explain(error: unknown, options: LocalServerOptions): unknown {
  const code = systemCodeOf(error);
  if (error instanceof GwError || options.address.kind === 'off') return error;
  const { address } = options;
  const where = address.kind === 'unix' ? `unix:${address.path}` : `${address.hosts.join(', ')} port ${address.port}`;
  const reason =
    code === 'EADDRINUSE' ? 'the address is in use' : code === 'EACCES' ? 'permission denied' : (code ?? String(error));
  return new GwError(`the ${options.name} server cannot listen on ${where}: ${reason}`, {
    code: code === 'EADDRINUSE' ? 'GW_PORT_IN_USE' : 'GW_ADDRESS',
    hint: `change ${options.setting}, or set it to "off"`,
    cause: error,
  });
}
