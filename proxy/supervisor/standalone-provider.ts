import { stat } from 'node:fs/promises';

import { diffConfigs, loadConfig, watchFiles, type ConfigSource, type Environment } from '../../src/config/index.ts';
import { httpUrl } from '../../src/config/documents/http-url.ts';
import { formatPath } from '../../src/config/load/problem.ts';
import { walk } from '../lint/walk.ts';
import { policyWarnings } from '../policy/warnings.ts';
import type { ConfigProvider, ReadConfig } from './config-provider.ts';

export interface StandaloneOptions {
  readonly env: Environment;
  /** Where relative paths of sources that are not files start. */
  readonly directory?: string | undefined;
}

/** File systems stamp changes with a coarse clock: a change may look this much older than it is. */
const CLOCK_GRAIN_MS = 20;

/** A standalone configuration: a file, standard input or a text. */
export function standaloneProvider(source: ConfigSource, options: StandaloneOptions): ConfigProvider {
  return new StandaloneProvider(source, options);
}

class StandaloneProvider implements ConfigProvider {
  readonly source: string;
  readonly #options: StandaloneOptions;
  #from: ConfigSource;
  /** Epoch milliseconds at which the last reading began. */
  #readAt = 0;

  constructor(source: ConfigSource, options: StandaloneOptions) {
    this.#from = source;
    this.#options = options;
    this.source = source.kind === 'file' ? source.path : source.kind === 'stdin' ? '<stdin>' : source.name;
  }

  async read(): Promise<ReadConfig> {
    this.#readAt = Date.now();
    const loaded = await loadConfig(this.#from, this.#options);
    // Standard input is read once; later reloads are about the files that it names.
    if (this.#from.kind === 'stdin') this.#from = { kind: 'text', text: loaded.text, name: '<stdin>' };
    const warnings = loaded.warnings.map(({ file, line, path, message }) => {
      return `${file}${line === undefined ? '' : `:${line}`}: ${path === '' ? '' : `${path}: `}${message}`;
    });
    const { config, revision, files, text } = loaded;
    // The text alone, which is a fraction of what was parsed out of it.
    return { config, revision, files, written: text, warnings: [...warnings, ...policyWarnings(config)] };
  }

  async placeOfUrl(url: string): Promise<string | null> {
    const { raw, placeOf } = await loadConfig(this.#from, this.#options);
    for (const { path, value } of walk(raw)) {
      if (typeof value !== 'string' || httpHref(value) !== url) continue;
      const { file, line, column } = placeOf(path);
      return `${file}:${line}:${column}: ${formatPath(path)}`;
    }
    return null;
  }

  watch(files: readonly string[], onChange: () => void) {
    const watching = watchFiles(files, onChange);
    void watching.ready.then(() => this.#lookBack(files, onChange));
    return watching;
  }

  /** A file that changed between its reading and the setting of the watch would wait for its next change. */
  async #lookBack(files: readonly string[], onChange: () => void): Promise<void> {
    const changedAt = await Promise.all(
      files.map(async (file) => (await stat(file).catch(() => null))?.ctimeMs ?? Number.POSITIVE_INFINITY),
    );
    if (changedAt.some((at) => at >= this.#readAt - CLOCK_GRAIN_MS)) onChange();
  }

  async diff(live: ReadConfig, rejected: ReadConfig | null) {
    const before = await this.#parsed(live.written);
    const after = await this.#parsed(rejected === null ? await this.#present() : rejected.written);
    return before === null || after === null ? [] : diffConfigs(before.value, after.value);
  }

  /** What the source holds now; null when it cannot be read. */
  async #present(): Promise<string | null> {
    const { readSource, readFromDisk } = await import('../../src/config/load/source.ts');
    const { directory = process.cwd() } = this.#options;
    const read = await readSource(this.#from, { readFile: readFromDisk, directory });
    return typeof read === 'string' ? null : read.text;
  }

  /** Null for what is no YAML. */
  async #parsed(text: unknown): Promise<{ value: unknown } | null> {
    if (typeof text !== 'string') return null;
    const [{ expandText }, { readYaml }] = await Promise.all([
      import('../../src/config/load/expand.ts'),
      import('../../src/config/load/yaml.ts'),
    ]);
    const yaml = readYaml(expandText(text, this.#options.env).text);
    return yaml.problems.length > 0 ? null : { value: yaml.root.value };
  }
}

function httpHref(text: string): string | null {
  const read = httpUrl(text);
  return 'href' in read ? read.href : null;
}
