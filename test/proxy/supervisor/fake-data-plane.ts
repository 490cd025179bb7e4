import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import type { GatewayConfig } from '../../../src/config/ir/index.ts';
import { GwError } from '../../../src/shared/errors.ts';
import type { McpReport } from '../../../proxy/mcp/records/report.ts';
import type { BoundAddress, DataPlane, DataPlaneInit, SharedRows } from '../../../proxy/supervisor/data-plane.ts';

/** A data plane with real sockets that answers every request itself; paths make it misbehave. */
export function createDataPlane(init: DataPlaneInit): DataPlane {
  return new FakeDataPlane(init);
}

class FakeDataPlane implements DataPlane {
  readonly #init: DataPlaneInit;
  #servers = new Map<string, Server>();
  #next: { config: GatewayConfig; revision: string; opened: Map<string, Server> } | null = null;
  #revision = '';
  #config: GatewayConfig | null = null;
  #open = 0;
  #requests = 0;
  #drained: (() => void) | null = null;

  constructor(init: DataPlaneInit) {
    this.#init = init;
  }

  async prepare(config: GatewayConfig, revision: string, rows: SharedRows): Promise<void> {
    const opened = new Map<string, Server>();
    this.#next = { config, revision, opened };
    for (const bind of config.binds) {
      if (!this.#servers.has(bind.key)) opened.set(bind.key, await this.#listen(bind.host, bind.port));
    }
    const refusing = config.binds.some((bind) =>
      bind.listeners.some(({ hostname }) => hostname === `refused-by-${this.#init.threadIndex}`),
    );
    if (refusing || rows.endpoints.size !== 0) {
      this.rollback();
      throw new GwError('this configuration cannot be compiled', { code: 'GW_TEST', hint: 'none' });
    }
  }

  commit(): void {
    if (this.#next === null) return;
    const { config, revision, opened } = this.#next;
    this.#next = null;
    for (const [key, server] of opened) this.#servers.set(key, server);
    const used = new Set(config.binds.map((bind) => bind.key));
    for (const [key, server] of this.#servers) {
      if (used.has(key)) continue;
      server.close();
      this.#servers.delete(key);
    }
    this.#revision = revision;
    this.#config = config;
  }

  rollback(): void {
    for (const server of this.#next?.opened.values() ?? []) server.close();
    this.#next = null;
  }

  drain(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open === 0) resolve();
      else this.#drained = resolve;
    });
  }

  destroy(): void {
    for (const server of this.#servers.values()) {
      server.closeAllConnections();
      server.close();
    }
  }

  addresses(): readonly BoundAddress[] {
    return [...this.#servers, ...(this.#next?.opened ?? [])].map(([bindKey, server]) => {
      const bound = server.address();
      return { bindKey, port: typeof bound === 'object' && bound !== null ? bound.port : 0 };
    });
  }

  liveTasks(): readonly string[] {
    return [`fake plane with ${this.#open} requests`];
  }

  mcp(): McpReport {
    return { targets: [], sessions: [] };
  }

  #listen(host: string, port: number): Promise<Server> {
    const server = createServer((request, response) => void this.#answer(request, response));
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, reusePort: this.#init.reusePort }, () => resolve(server));
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { telemetry, threadIndex, admin } = this.#init;
    const path = request.url ?? '/';
    this.#requests += 1;
    this.#open += 1;
    response.once('close', () => {
      this.#open -= 1;
      if (this.#open === 0) this.#drained?.();
    });
    if (path === '/crash') {
      process.nextTick(() => {
        throw new Error('crashed on request');
      });
      return;
    }
    if (path === '/hang') {
      response.writeHead(200);
      response.flushHeaders();
      return;
    }
    if (path === '/block') for (;;);
    if (path.startsWith('/admin')) {
      const reply = await admin({
        method: request.method ?? 'GET',
        path: path.slice('/admin'.length),
        headers: {},
        body: null,
      });
      response.writeHead(reply.status, reply.headers).end(reply.body);
      return;
    }
    this.#trace(path);
    telemetry.metrics
      .connection({ bind: 'bind/0', gateway: 'default/default', listener: 'l', protocol: 'http' })
      .accepted.add(1);
    telemetry.metrics
      .route({ bind: 'bind/0', gateway: 'default/default', listener: 'l', route: 'default/r', routeRule: '' })
      .backend('/b', 'http')
      .finished({
        method: request.method ?? '',
        status: 200,
        reason: 'Upstream',
        durationMs: 3,
        responseBytes: 5,
        retries: 0,
        requestProcessingMs: 0.2,
        responseProcessingMs: undefined,
      });
    telemetry.accessLog.write({ method: request.method, path, status: 200, durationMs: 3 });
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(
      JSON.stringify({
        revision: this.#revision,
        thread: threadIndex,
        keepalive: this.#config?.process.backend.poolIdleTimeoutMs,
      }),
    );
  }

  #trace(path: string): void {
    const { traces } = this.#init.telemetry;
    if (!traces.watched()) return;
    const trace = traces.begin(`${this.#init.threadIndex}-${this.#requests}`);
    if (trace === null) return;
    trace.emit({ type: 'requestStarted' });
    const padding = path.startsWith('/many') ? 'x'.repeat(4000) : '';
    const events = path.startsWith('/many') ? 8000 : 1;
    for (let n = 0; n < events; n++)
      trace.emit({ type: 'policyEvent', kind: 'test', details: `${path} ${n} ${padding}` });
    const late = trace.hold();
    trace.emit({ type: 'requestFinished', status: 200, error: null });
    setImmediate(() => {
      trace.emit({ type: 'bodySnapshot', stage: 'response', body: '' });
      late();
    });
  }
}
