import { formatAddress, hostInUrl } from '../../src/admin/client/address.ts';
import type { Dump } from '../../src/admin/protocol/decode-config-dump.ts';
import type { RouteAddress } from '../../src/admin/views/route-address.ts';
import { exitCodes, GwError } from '../../src/shared/errors.ts';
import type { Cli } from './cli.ts';
import { addressOf, chooseTarget, loadDump, type Tell, type TargetChoice } from './target.ts';
import { usageError } from './usage-error.ts';

export interface PlaceChoice extends TargetChoice {
  readonly url?: string | undefined;
  readonly port?: number | undefined;
}

/** What is looked for at a gateway. */
export interface Wanted {
  /** As the subject of "the proxy has no route to …". */
  readonly what: string;
  readonly addresses: (dump: Dump) => readonly RouteAddress[];
  /** Path at a port that was given. */
  readonly path: string;
  readonly code: string;
  /** The section of the configuration that has such routes. */
  readonly section: string;
}

/** Where a request goes: the URL that was given, a port of the target, or what the target's dump says. */
export async function placeOf(
  choice: PlaceChoice,
  wanted: Wanted,
  { cli, tell }: { readonly cli: Cli; readonly tell: Tell },
): Promise<URL> {
  const { url, port } = choice;
  if (url !== undefined) return givenUrl(url, choice);
  const target = chooseTarget(choice);
  const address = addressOf(target);
  const host = address.kind === 'tcp' ? address.host : 'localhost';
  if (port !== undefined) return new URL(`http://${hostInUrl(host)}:${port}${wanted.path}`);
  const [found] = wanted.addresses(await loadDump(choice, { cli, tell }));
  if (found === undefined)
    throw new GwError(`the proxy at ${formatAddress(address)} has no route to ${wanted.what}`, {
      code: wanted.code,
      exitCode: exitCodes.notFound,
      hint: `a section \`${wanted.section}\` in its configuration, or --url of another gateway`,
    });
  const at = urlOf(found, host);
  await tell(`asking ${at.href} (route ${found.route} of listener ${found.listener})`);
  return at;
}

function urlOf({ scheme, port, prefix }: RouteAddress, host: string): URL {
  return new URL(`${scheme}://${hostInUrl(host)}:${port}${prefix}`);
}

function givenUrl(text: string, { port, local, address, resource }: PlaceChoice): URL {
  const other = [
    [port !== undefined, '--port'],
    [local === true, '--local'],
    [address !== undefined, '--address'],
    [resource !== undefined, 'RESOURCE'],
  ].find(([given]) => given === true);
  if (other !== undefined) throw usageError(`--url says where already: it does not go with ${String(other[1])}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '') return url;
  throw usageError(`--url ${text} is no address of a gateway: expected http://host:port or https://host/path`);
}
