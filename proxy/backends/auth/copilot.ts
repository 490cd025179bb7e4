import type { Exchange } from '../../exchange/exchange.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../exchange/attributes.ts';
import { type Cloud, limited } from './cloud.ts';
import type { CloudDeps } from './cloud-token.ts';
import type { CredentialKind } from './contract.ts';
import { CredentialError } from './failure.ts';
import { writeToken } from './fetched.ts';
import { bearerTarget, compileInserter } from './insert.ts';
import { type Expiring, TokenCache } from './token-cache.ts';

const VARIABLES = ['GH_COPILOT_TOKEN', 'COPILOT_GITHUB_TOKEN'];
/** Tokens do not tell when they end; this is how often they are looked at again. */
const TTL_MS = 300_000;

/** What the service wants to know of whoever calls; what the client says of itself stays. */
const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['editor-version', 'gwctl/1.0'],
  ['x-github-api-version', '2025-05-01'],
  ['x-initiator', 'user'],
  ['x-interaction-type', 'conversation-agent'],
  ['openai-intent', 'conversation-agent'],
];

/** The token of whoever is logged in to GitHub Copilot: of the environment, or of the tools that log in. */
export function copilotToken({ deps, cloud, key }: CloudDeps): CredentialKind {
  const inserter = compileInserter(bearerTarget);
  const settings = { maxEntries: 1, defaultTtlMs: TTL_MS, marginMs: 0, refreshMs: 0 };
  const cache = deps.stores.get(`${key} tokens`, () => new TokenCache<string>(settings));
  const write = (exchange: Exchange, token: string) => {
    const { headers } = exchange.request;
    for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value);
    return inserter.insert(exchange, token);
  };
  return {
    details: `token of Copilot in ${inserter.place}`,
    apply: (exchange) =>
      writeToken(
        cache.get('', () => findToken(limited(cloud))),
        exchange,
        { clock: deps.clock, write },
      ),
  };
}

/** Throws a `CredentialError` where nobody is logged in. */
export async function findToken(cloud: Cloud): Promise<Expiring<string>> {
  for (const name of VARIABLES) {
    const value = cloud.env(name);
    if (value !== undefined) return { value, expiresAtMs: null };
  }
  const failures: unknown[] = [];
  for (const { path, read } of files(cloud)) {
    try {
      const value = read(parsed(await cloud.readFile(path)));
      if (value !== undefined) return { value, expiresAtMs: null };
    } catch (error) {
      failures.push(error);
    }
  }
  throw new CredentialError('nobody is logged in to Copilot', { cause: new AggregateError(failures, '') });
}

interface TokenFile {
  readonly path: string;
  readonly read: (content: JsonObject) => string | undefined;
}

/** What editors and the command line keep. */
function files(cloud: Cloud): readonly TokenFile[] {
  const config = cloud.env('XDG_CONFIG_HOME') ?? `${cloud.home}/.config`;
  return [
    { path: `${cloud.home}/.copilot/config.json`, read: (content) => firstText(content['copilot_tokens']) },
    { path: `${config}/github-copilot/apps.json`, read: oauthToken },
    { path: `${config}/github-copilot/hosts.json`, read: oauthToken },
  ];
}

function oauthToken(content: JsonObject): string | undefined {
  for (const [host, entry] of Object.entries(content)) {
    if (host !== 'github.com' && !host.startsWith('github.com:')) continue;
    const token = isJsonObject(entry) ? entry['oauth_token'] : undefined;
    if (typeof token === 'string' && token !== '') return token;
  }
  return undefined;
}

function firstText(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return undefined;
  return Object.values(value).find((each): each is string => typeof each === 'string' && each !== '');
}

function parsed(source: string): JsonObject {
  // `as`: the parser makes nothing else.
  const value = JSON.parse(source) as JsonValue;
  if (isJsonObject(value)) return value;
  throw new CredentialError('a file of Copilot is no JSON object');
}
