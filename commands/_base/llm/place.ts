import { formatAddress, hostInUrl } from '../../../src/admin/client/address.ts';
import { modelAddresses, type ModelAddress } from '../../../src/admin/views/model-address.ts';
import { exitCodes, GwError } from '../../../src/shared/errors.ts';
import { addressOf, chooseTarget, loadDump, type Tell, type TargetChoice } from '../target.ts';
import { usageError } from '../usage-error.ts';
import type { Cli } from '../cli.ts';

export interface PlaceChoice extends TargetChoice {
  readonly url?: string | undefined;
  readonly port?: number | undefined;
}

/** Where a question goes: the URL that was given, a port of the target, or what the target's dump says. */
export async function placeOf(choice: PlaceChoice, cli: Cli, tell: Tell): Promise<URL> {
  const { url, port } = choice;
  if (url !== undefined) return givenUrl(url, choice);
  const target = chooseTarget(choice);
  const address = addressOf(target);
  const host = address.kind === 'tcp' ? address.host : 'localhost';
  if (port !== undefined) return new URL(`http://${hostInUrl(host)}:${port}`);
  const [found] = modelAddresses(await loadDump(choice, { cli, tell }));
  if (found === undefined)
    throw new GwError(`the proxy at ${formatAddress(address)} has no route to language models`, {
      code: 'GW_NO_MODELS',
      exitCode: exitCodes.notFound,
      hint: 'a section `llm` in its configuration, or --url of another gateway',
    });
  const at = urlOf(found, host);
  await tell(`asking ${at.href} (route ${found.route} of listener ${found.listener})`);
  return at;
}

function urlOf({ scheme, port, prefix }: ModelAddress, host: string): URL {
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
