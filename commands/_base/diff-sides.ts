import { existsSync } from 'node:fs';
import { formatAddress } from '../../src/admin/client/address.ts';
import { readText } from '../../src/admin/client/read-file.ts';
import { decodeConfigDump } from '../../src/admin/protocol/decode-config-dump.ts';
import { asObject, isObject, type JsonObject } from '../../src/admin/protocol/lenient.ts';
import type { ConfigSource, LoadedConfig } from '../../src/config/index.ts';
import type { Cli } from './cli.ts';
import {
  addressOf,
  chooseTarget,
  notADump,
  parseDumpText,
  withClient,
  type TargetChoice,
  type Tell,
} from './target.ts';
import { usageError } from './usage-error.ts';

/** One of the two configurations that are compared. */
export interface Side {
  readonly name: string;
  /** In the form of `/config_dump`. */
  readonly raw: JsonObject;
}

export interface DiffChoice extends TargetChoice {
  readonly with?: string | undefined;
}

interface Surroundings {
  readonly cli: Cli;
  readonly tell: Tell;
}

type Source =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'proxy'; readonly choice: TargetChoice };

interface Configuration {
  readonly kind: 'configuration';
  readonly name: string;
  readonly source: ConfigSource;
}

type Read = ({ readonly kind: 'dump' } & Side) | Configuration;

const EXAMPLE = 'gwctl proxy config diff -f config.yaml --local';

/** Reads both sides, the older one first: a configuration file that is compared with a dump counts as the newer one. */
export async function readSides(choice: DiffChoice, surroundings: Surroundings): Promise<readonly [Side, Side]> {
  const [from, to] = sourcesOf(choice);
  const first = await read(from, surroundings);
  const second = await read(to, surroundings);
  const { env } = surroundings.cli;
  if (first.kind === 'dump') return second.kind === 'dump' ? [first, second] : withConfiguration(first, second, env);
  if (second.kind === 'dump') return withConfiguration(second, first, env);
  return [await sideOf(first, await load(first, env)), await sideOf(second, await load(second, env))];
}

function sourcesOf({ file, with: other, ...live }: DiffChoice): readonly [Source, Source] {
  const named = live.local === true || live.address !== undefined || live.resource !== undefined;
  if (file !== undefined && other !== undefined && named)
    throw usageError('two configurations can be compared, and --file, --with and a proxy are three', EXAMPLE);
  if (file === undefined && other === undefined) throw usageError('--file or --with names what to compare', EXAMPLE);
  const proxy: Source = { kind: 'proxy', choice: live };
  const first: Source = file === undefined ? proxy : { kind: 'file', path: file };
  const second = other === undefined ? proxy : sourceOf(other, live);
  if (first.kind === 'file' && second.kind === 'file') checkFiles([first.path, second.path], live);
  return [first, second];
}

/** A file of the name goes before an address. */
function sourceOf(text: string, live: TargetChoice): Source {
  const { timeout, 'admin-port': port } = live;
  if (text === 'local') return { kind: 'proxy', choice: { local: true, 'admin-port': port, timeout } };
  const address = /^(unix:|http:\/\/)/.test(text) || (/^[^/\s]+:\d{1,5}$/.test(text) && !existsSync(text));
  return address ? { kind: 'proxy', choice: { address: text, timeout } } : { kind: 'file', path: text };
}

function checkFiles(paths: readonly string[], live: TargetChoice): void {
  if (paths.every((path) => path === '-')) throw usageError('only one side can be stdin', EXAMPLE);
  const idle = (['admin-port', 'namespace', 'timeout'] as const).find((name) => live[name] !== undefined);
  if (idle !== undefined) throw usageError(`--${idle} is about a proxy, and both sides are files`, EXAMPLE);
}

async function read(source: Source, surroundings: Surroundings): Promise<Read> {
  if (source.kind === 'proxy') {
    const name = formatAddress(addressOf(chooseTarget(source.choice)));
    const dump = await withClient(source.choice, surroundings, (client) => client.dump());
    return { kind: 'dump', name, raw: decodeConfigDump(dump).raw };
  }
  const { path } = source;
  const name = path === '-' ? '<stdin>' : path;
  const text = await readText(path, surroundings.cli.stdin);
  // A dump that was cut to nothing must not look like a configuration without anything in it.
  if (text.trim() === '') throw notADump(`${name} is empty`);
  const value = await parseDumpText(text, path).catch(() => undefined);
  if (isObject(value) && isDump(value)) return { kind: 'dump', name, raw: decodeConfigDump(value).raw };
  // Whatever cannot be read at all is left to the loader, which says what is wrong and where.
  return { kind: 'configuration', name, source: path === '-' ? { kind: 'text', text, name } : { kind: 'file', path } };
}

/** No key of a configuration file is called so, and its routes are a list. */
function isDump(value: JsonObject): boolean {
  return ['version', 'revision', 'models'].some((key) => key in value) || isObject(value['routes']);
}

const NAMES_IN_DUMPS: Readonly<Record<string, string>> = {
  enableIpv6: 'ipv6Enabled',
  workerThreads: 'numWorkerThreads',
  connectionTerminationDeadline: 'terminationMaxDeadline',
  connectionMinTerminationDeadline: 'terminationMinDeadline',
};

/** Settings that the file does not name come from the environment and the machine of a proxy, so they are not compared. */
async function withConfiguration(dump: Side, configuration: Configuration, env: Cli['env']) {
  const settings = asObject(dump.raw['config']);
  let loaded = await load(configuration, env);
  const named = Object.keys(asObject(asObject(loaded.raw)['config']));
  const ipv6 = settings['ipv6Enabled'];
  // Addresses of listeners follow from it.
  if (!named.includes('enableIpv6') && typeof ipv6 === 'boolean' && ipv6 !== loaded.config.process.enableIpv6)
    loaded = await load(configuration, { ...env, IPV6_ENABLED: String(ipv6) });
  const side = await sideOf(configuration, loaded);
  const keys = named.map((key) => NAMES_IN_DUMPS[key] ?? key);
  return [onlySettings(dump, keys), onlySettings(side, keys)] as const;
}

function onlySettings({ name, raw }: Side, keys: readonly string[]): Side {
  const settings = asObject(raw['config']);
  return { name, raw: { ...raw, config: Object.fromEntries(keys.map((key) => [key, settings[key]])) } };
}

async function load({ source }: Configuration, env: Cli['env']): Promise<LoadedConfig> {
  const { loadConfig } = await import('../../src/config/index.ts');
  return loadConfig(source, { env });
}

async function sideOf({ name }: Configuration, loaded: LoadedConfig): Promise<Side> {
  const { unloadedDump } = await import('../../proxy/admin/config-dump/unloaded.ts');
  // As it would arrive from a proxy, where what is undefined is absent.
  const raw: unknown = JSON.parse(JSON.stringify(unloadedDump(loaded)));
  return { name, raw: asObject(raw) };
}
