import type { AdminClient } from '../../src/admin/client/admin-client.ts';
import {
  defaultAdminPort,
  formatAddress,
  parseAdminAddress,
  type AdminAddress,
} from '../../src/admin/client/address.ts';
import { UnreachableError } from '../../src/admin/client/errors.ts';
import { readText } from '../../src/admin/client/read-file.ts';
import { decodeConfigDump, type Dump } from '../../src/admin/protocol/decode-config-dump.ts';
import { GwError, exitCodes, messageOf } from '../../src/shared/errors.ts';
import type { Cli } from './cli.ts';
import { usageError } from './usage-error.ts';

/** The flags that say which proxy is meant, as a command has parsed them. */
export interface TargetChoice {
  readonly resource?: string | undefined;
  readonly local?: boolean | undefined;
  readonly address?: string | undefined;
  readonly 'admin-port'?: number | undefined;
  readonly namespace?: string | undefined;
  readonly timeout?: number | undefined;
  readonly file?: string | undefined;
}

export type Target =
  | { readonly kind: 'file'; readonly path: string }
  /** `assumed`: nothing was given, so the proxy of this machine is tried. */
  | { readonly kind: 'proxy'; readonly address: AdminAddress; readonly local: boolean; readonly assumed: boolean };

const DEFAULT_TIMEOUT_MS = 10_000;

/** Checks the target flags against each other, before anything is contacted. */
export function chooseTarget(choice: TargetChoice): Target {
  const { resource, address, file, local } = choice;
  const given = [resource, local === true ? '--local' : undefined, address && `--address`, file && '--file'].filter(
    Boolean,
  );
  if (given.length > 1)
    throw usageError(`only one of RESOURCE, --local, --address and --file can be given: got ${given.join(' and ')}`);
  if (resource !== undefined) throw clusterError(resource);
  if (choice.namespace !== undefined) throw usageError('--namespace needs a RESOURCE in a cluster');
  if (file !== undefined) {
    if (choice['admin-port'] !== undefined) throw usageError('--admin-port does not go with --file');
    return { kind: 'file', path: file };
  }
  const port = choice['admin-port'] ?? defaultAdminPort;
  if (address !== undefined) {
    return { kind: 'proxy', address: parseAdminAddress(address, port), local: false, assumed: false };
  }
  return { kind: 'proxy', address: { kind: 'tcp', host: 'localhost', port }, local: true, assumed: local !== true };
}

/** The admin address of a running proxy. */
export function addressOf(target: Target): AdminAddress {
  if (target.kind === 'file') throw usageError('this command needs a running proxy, not a file');
  return target.address;
}

function clusterError(resource: string): GwError {
  return new GwError(`targets in a cluster ("${resource}") are not available in this version`, {
    code: 'GW_NO_CLUSTER',
    exitCode: exitCodes.usage,
    hint: "kubectl port-forward the pod's port 15000, then --address 127.0.0.1:15000",
  });
}

/** Tells on stderr which proxy is used when the flags do not. */
export type Tell = (text: string) => Promise<void>;

/** A client for the chosen proxy. Close it when done. */
export async function openClient(choice: TargetChoice, cli: Cli, tell: Tell): Promise<AdminClient> {
  const target = chooseTarget(choice);
  const address = addressOf(target);
  const { AdminClient: Client } = await import('../../src/admin/client/admin-client.ts');
  if (target.kind === 'proxy' && target.assumed)
    await tell(`using the proxy on this machine, admin ${formatAddress(address)}`);
  return new Client(address, {
    timeoutMs: choice.timeout ?? DEFAULT_TIMEOUT_MS,
    signal: cli.signal,
    onWait: ({ message }) => void tell(`${message}: waiting for it`),
  });
}

/** Runs `use` with a client and closes the client whatever comes. */
export async function withClient<T>(
  choice: TargetChoice,
  surroundings: { readonly cli: Cli; readonly tell: Tell },
  use: (client: AdminClient) => Promise<T>,
): Promise<T> {
  const client = await openClient(choice, surroundings.cli, surroundings.tell);
  try {
    return await use(client);
  } catch (error) {
    throw withTargetHint(error, choice);
  } finally {
    await client.close();
  }
}

/** Without a target the way out is to name one. */
function withTargetHint(error: unknown, choice: TargetChoice): unknown {
  if (!(error instanceof UnreachableError) || choice.local === true || choice.address !== undefined) return error;
  return new GwError(error.message, {
    code: error.code,
    exitCode: error.exitCode,
    cause: error.cause,
    hint: 'start a proxy with gwctl proxy run, or name one with --address host:port, or a saved dump with --file',
  });
}

/** The dump of the chosen proxy or file. */
export async function loadDump(
  choice: TargetChoice,
  surroundings: { readonly cli: Cli; readonly tell: Tell },
): Promise<Dump> {
  const target = chooseTarget(choice);
  if (target.kind === 'proxy')
    return withClient(choice, surroundings, async (client) => decodeConfigDump(await client.dump()));
  const text = await readText(target.path, surroundings.cli.stdin);
  return decodeConfigDump(await parseDumpText(text, target.path));
}

/** The value of a saved dump, JSON or YAML. */
export async function parseDumpText(text: string, path: string): Promise<unknown> {
  const name = path === '-' ? 'stdin' : path;
  if (text.trim() === '') throw notADump(`${name} is empty`);
  try {
    return JSON.parse(text);
  } catch (error) {
    // A dump that was printed with `-o yaml` is a dump too.
    const fromYaml = /^\s*[[{<]/.test(text) ? undefined : await parseYaml(text);
    if (fromYaml !== undefined) return fromYaml;
    throw notADump(`${name} is not JSON: ${messageOf(error)}`);
  }
}

async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // Not YAML either; the caller reports the JSON error.
    return undefined;
  }
}

export function notADump(message: string): GwError {
  return new GwError(message, { code: 'GW_NOT_A_DUMP', hint: 'gwctl proxy config all --local -o json > dump.json' });
}
