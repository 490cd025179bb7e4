/** A gateway on a real file that it watches, in a folder of its own. */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type ConfigProvider, Gateway, standaloneProvider } from '../../proxy/index.ts';

export const LOCAL_SERVERS =
  'config: {enableIpv6: false, adminAddr: "127.0.0.1:0", statsAddr: off, readinessAddr: off, workerThreads: 2}\n';

export class ConfigFolder {
  readonly path: string;
  #gateway: Gateway | null = null;
  #names = 0;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<ConfigFolder> {
    return new ConfigFolder(await mkdtemp(join(tmpdir(), 'gw-')));
  }

  get gateway(): Gateway {
    if (this.#gateway === null) throw new Error('the gateway has not started');
    return this.#gateway;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(this.file(name), text);
  }

  /** As editors save: a new file takes the place of the old one. */
  async replace(name: string, text: string): Promise<void> {
    this.#names += 1;
    const fresh = this.file(`.${name}.${this.#names}`);
    await writeFile(fresh, text);
    await rename(fresh, this.file(name));
  }

  /** As Kubernetes updates a volume: `name` is a link into `..data`, itself a link that is swapped. */
  async publish(name: string, text: string): Promise<void> {
    this.#names += 1;
    const version = `..version_${this.#names}`;
    await mkdir(this.file(version));
    await writeFile(join(this.path, version, name), text);
    await symlink(version, this.file('..data_tmp'));
    await rename(this.file('..data_tmp'), this.file('..data'));
    if (this.#names === 1) await symlink(`..data/${name}`, this.file(name));
  }

  /** Runs the file; its ports below 1024 are placeholders for free ones. */
  async start(name: string): Promise<Gateway> {
    const provider = standaloneProvider({ kind: 'file', path: this.file(name) }, { env: {} });
    this.#gateway = await Gateway.start({
      provider: onFreePorts(provider),
      build: { version: '0.0.0', gitRevision: 'test' },
      output: { write: () => Promise.resolve() },
    });
    return this.#gateway;
  }

  port(configured: number): number {
    return this.gateway.addresses.binds.find(({ bindKey }) => bindKey === `bind/${configured}`)?.port ?? 0;
  }

  async close(): Promise<void> {
    const closing = this.#gateway?.shutdown();
    void this.#gateway?.shutdown();
    await closing;
    await rm(this.path, { recursive: true, force: true });
  }
}

function onFreePorts(provider: ConfigProvider): ConfigProvider {
  return {
    source: provider.source,
    watch: (files, onChange) => provider.watch(files, onChange),
    diff: (live, rejected) => provider.diff(live, rejected),
    placeOfUrl: (url) => provider.placeOfUrl(url),
    read: async () => {
      const read = await provider.read();
      const binds = read.config.binds.map((bind) => ({ ...bind, port: bind.port < 1024 ? 0 : bind.port }));
      return { ...read, config: { ...read.config, binds } };
    },
  };
}
