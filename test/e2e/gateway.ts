import { once } from 'node:events';
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestListener,
  createServer,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';

import { createDataPlane } from '../../proxy/engine/data-plane.ts';
import { type ConfigProvider, Gateway, standaloneProvider } from '../../proxy/index.ts';
import type { ReloadResult } from '../../proxy/index.ts';

const LOCAL = 'config: {adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1"}\n';

/** How long tests wait for what must come. */
const PATIENCE_MS = 3000;

export interface RunningGateway {
  readonly gateway: Gateway;
  /** Lines of log so far, the access log included. */
  readonly log: string[];
  /** Waits for a line that contains all of the words. */
  logged(...words: string[]): Promise<string>;
  /** The real port behind the one in the configuration. */
  port(configured: number): number;
  readonly admin: string;
  readonly stats: string;
  readonly readiness: string;
  reload(text: string): Promise<ReloadResult>;
  close(): Promise<void>;
}

/**
 * Runs a gateway on a configuration whose ports below 1024 are placeholders: their sockets open on free ports. In the
 * test's own thread, or with real worker threads.
 */
export async function startGateway(
  text: string,
  options: { threads?: number; env?: Record<string, string> } = {},
): Promise<RunningGateway> {
  const source = new TextProvider(text, options.env ?? {});
  const log: string[] = [];
  const { threads } = options;
  const logged = async (...words: string[]): Promise<string> => {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const line = log.find((each) => words.every((word) => each.includes(word)));
      if (line !== undefined) return line;
      if (performance.now() > giveUpAt) throw new Error(`no line with ${words.join(' and ')} in:\n${log.join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const gateway = await Gateway.start({
    provider: source.provider(threads),
    build: { version: '0.0.0', gitRevision: 'test' },
    output: {
      write: (line: string) => (log.push(...line.split('\n').filter((part) => part !== '')), Promise.resolve()),
    },
    ...(threads === undefined ? { inThread: true, create: createDataPlane } : {}),
  });
  return {
    gateway,
    log,
    logged,
    admin: `http://${gateway.addresses.admin}`,
    stats: `http://${gateway.addresses.stats}`,
    readiness: `http://${gateway.addresses.readiness}`,
    port: (configured) => gateway.addresses.binds.find(({ bindKey }) => bindKey === `bind/${configured}`)?.port ?? 0,
    reload: (next) => {
      source.text = next;
      return gateway.reload();
    },
    close: async () => {
      const closing = gateway.shutdown();
      void gateway.shutdown();
      await closing;
    },
  };
}

class TextProvider {
  text: string;

  readonly env: Record<string, string>;

  constructor(text: string, env: Record<string, string>) {
    this.text = text;
    this.env = env;
  }

  provider(threads: number | undefined): ConfigProvider {
    const inner = (): ConfigProvider =>
      standaloneProvider({ kind: 'text', text: this.#whole(), name: 'test.yaml' }, { env: this.env });
    return {
      source: 'test.yaml',
      read: async () => {
        const read = await inner().read();
        const local = { kind: 'tcp', hosts: ['127.0.0.1'], port: 0 } as const;
        const process = {
          ...read.config.process,
          adminAddr: local,
          statsAddr: local,
          readinessAddr: local,
          workerThreads: threads ?? 1,
        };
        const binds = read.config.binds.map((bind) => ({
          ...bind,
          host: '127.0.0.1',
          port: bind.port < 1024 ? 0 : bind.port,
        }));
        return { ...read, config: { ...read.config, process, binds } };
      },
      watch: () => ({ update() {}, close() {} }),
      diff: (live, rejected) => inner().diff(live, rejected),
      placeOfUrl: (url) => inner().placeOfUrl(url),
    };
  }

  #whole(): string {
    return this.text.includes('config:') ? this.text : LOCAL + this.text;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

/** One request over a connection of its own. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: '127.0.0.1', port, path, method, headers: { host: 'shop.test', ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export interface Upstream {
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

export async function upstream(listener: RequestListener): Promise<Upstream> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    // `as`: a TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with what it was asked, as JSON. */
export const echo: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
  });
};

/** Runs what tests have opened backwards, at their end. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  add<T extends { close(): unknown }>(thing: T): T {
    this.#steps.push(() => thing.close());
    return thing;
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).toReversed()) await step();
  }
}
