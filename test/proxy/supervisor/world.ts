import { Gateway, type GatewayOptions } from '../../../proxy/supervisor/gateway.ts';
import type { ConfigProvider, ConfigWatch, ReadConfig } from '../../../proxy/supervisor/config-provider.ts';
import type { ConfigDifference } from '../../../src/admin/protocol/status.ts';
import type { Bind, GatewayConfig, ProcessConfig } from '../../../src/config/ir/index.ts';

const anyPort = { kind: 'tcp', hosts: ['127.0.0.1'], port: 0 } as const;

export function processConfig(changes: Partial<ProcessConfig> = {}): ProcessConfig {
  const keepalives = { enabled: true, timeMs: 180_000, intervalMs: 180_000, retries: 9 };
  return {
    enableIpv6: false,
    dns: { lookupFamily: 'Auto' },
    adminAddr: anyPort,
    statsAddr: anyPort,
    readinessAddr: anyPort,
    env: {},
    sensitiveHeaders: [],
    terminationMaxDeadlineMs: 5000,
    terminationMinDeadlineMs: 0,
    workerThreads: 1,
    logging: { level: 'info', format: 'text' },
    metrics: { add: [], remove: [] },
    telemetry: { serviceName: 'gwctl', attributes: [] },
    histograms: 'classic',
    mcpSessions: { ttlMs: 1_800_000 },
    backend: { keepalives, connectTimeoutMs: 10_000, poolIdleTimeoutMs: 90_000 },
    ...changes,
  };
}

export function bind(port: number, changes: Partial<Bind> = {}): Bind {
  return {
    key: `bind/${port}`,
    address: `127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    protocol: 'http',
    mode: 'standard',
    tunnelProtocol: 'direct',
    listeners: [],
    ...changes,
  };
}

export function gatewayConfig(process: Partial<ProcessConfig>, binds: readonly Bind[] = [bind(0)]): GatewayConfig {
  return {
    process: processConfig(process),
    binds,
    routeGroups: [],
    backends: [],
    policies: [],
    frontend: {
      http: {
        maxBufferSize: 2_097_152,
        http1MaxHeaders: 100,
        http1IdleTimeoutMs: 600_000,
        http1HeaderCase: 'lowercase',
        streamIdleTimeoutMs: 300_000,
        forwardedHeaders: 'append',
      },
      tls: { handshakeTimeoutMs: 15_000 },
      connect: { mode: 'deny' },
      accessLog: { add: [], remove: [] },
    },
    services: [],
    workloads: [],
  };
}

/** A source of configuration that a test changes by hand. */
class FakeProvider implements ConfigProvider {
  readonly source = 'test.yaml';
  next: GatewayConfig | Error;
  text = 'a: 1';
  changed: () => void = () => {};
  reads = 0;

  constructor(config: GatewayConfig) {
    this.next = config;
  }

  async read(): Promise<ReadConfig> {
    this.reads += 1;
    if (this.next instanceof Error) throw this.next;
    return { config: this.next, revision: `r-${this.text}`, files: ['test.yaml'], written: this.text, warnings: [] };
  }

  watch(_files: readonly string[], onChange: () => void): ConfigWatch {
    this.changed = onChange;
    return { update() {}, close() {} };
  }

  async placeOfUrl(): Promise<string | null> {
    return null;
  }

  async diff(live: ReadConfig): Promise<readonly ConfigDifference[]> {
    return [{ kind: 'changed', path: 'text', before: live.written, after: this.text }];
  }
}

/** A running gateway with what a test needs to look at it. */
export class World {
  readonly provider: FakeProvider;
  readonly lines: string[];
  readonly gateway: Gateway;

  private constructor(provider: FakeProvider, gateway: Gateway, lines: string[]) {
    this.provider = provider;
    this.gateway = gateway;
    this.lines = lines;
  }

  static async start(config: GatewayConfig, changes: Partial<GatewayOptions> = {}): Promise<World> {
    const provider = new FakeProvider(config);
    const lines: string[] = [];
    const gateway = await Gateway.start({
      provider,
      dataPlane: new URL('fake-data-plane.ts', import.meta.url),
      build: { version: '1.2.3', gitRevision: 'abc' },
      output: { write: async (text) => void lines.push(text) },
      ...changes,
    });
    return new World(provider, gateway, lines);
  }

  get port(): number {
    return this.gateway.addresses.binds[0]?.port ?? 0;
  }

  /** Every line written so far. */
  get output(): string {
    return this.lines.join('');
  }

  traffic(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`);
  }

  admin(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://${this.gateway.addresses.admin}${path}`, init);
  }

  /** Waits until something is so, by looking again after each turn of the event loop with real work in between. */
  async until(condition: () => boolean | Promise<boolean>, tries = 400): Promise<void> {
    for (let attempt = 0; attempt < tries; attempt++) {
      if (await condition()) return;
      await this.ping();
    }
    throw new Error('it never became so');
  }

  /** A round trip over the admin interface. */
  async ping(): Promise<void> {
    await (await this.admin('/config_status')).text();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async stop(): Promise<void> {
    const ending = this.gateway.shutdown();
    void this.gateway.shutdown();
    await ending;
  }
}
