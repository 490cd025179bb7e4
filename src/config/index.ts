import type { DefaultConfig, DefaultPathFs } from './load/default-path.ts';
import type { Environment } from './load/expand.ts';
import type { LoadedConfig, LoadOptions } from './load/load-config.ts';
import type { ConfigSource } from './load/source.ts';
import type { Difference } from './diff.ts';

/**
 * The door to configuration. Importing it is cheap: the schema and the YAML parser are loaded by the functions that need
 * them, on their first call.
 */
export type * from './ir/index.ts';
export type { DefaultConfig, DefaultPathFs } from './load/default-path.ts';
export type { Environment } from './load/expand.ts';
export type { LoadedConfig, LoadOptions } from './load/load-config.ts';
export type { ConfigSource } from './load/source.ts';
export type { Difference } from './diff.ts';
export { ConfigError, renderIssues, type ConfigIssue, type ConfigIssueCode } from './errors.ts';
export { seal, unseal, type SealedConfig } from './transfer.ts';
export { watchFiles, type FileWatch, type WatchOptions } from './watch.ts';

/** Reads, checks and normalizes a configuration; throws a `ConfigError` that holds every problem found. */
export async function loadConfig(source: ConfigSource, options: LoadOptions): Promise<LoadedConfig> {
  const { loadConfig: load } = await import('./load/load-config.ts');
  return load(source, options);
}

/** The default configuration file, created when it is not there. Throws a `GwError` when there is no place for it. */
export async function defaultConfigPath(env: Environment, fs?: DefaultPathFs): Promise<DefaultConfig> {
  const { defaultConfigPath: find } = await import('./load/default-path.ts');
  return find(env, fs);
}

/** The JSON Schema of the standalone file. */
export async function jsonSchema(): Promise<object> {
  const { jsonSchema: make } = await import('./schema/json-schema.ts');
  return make();
}

/** What differs between two parsed configurations (`LoadedConfig.raw`), secrets redacted. */
export async function diffConfigs(before: unknown, after: unknown): Promise<Difference[]> {
  const { diffConfigs: diff } = await import('./diff.ts');
  return diff(before, after);
}
