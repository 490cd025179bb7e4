import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from '@jest/globals';

import { Cleanup, type RunningGateway, startGateway } from '../../e2e/gateway.ts';
import { tokenEndpoint } from '../../e2e/token-endpoint.ts';
import { type SeenRequest, type SimulatedProvider, startProvider, type Vendor } from '../providers/server.ts';
import { bodyColumns, type Column, columns } from './columns.ts';

const VENDORS: readonly Vendor[] = ['openai', 'azure', 'anthropic', 'gemini', 'vertex', 'bedrock', 'cohere'];

/** What clients show to the gateway; no provider may see it. */
export const CLIENT_KEY = 'client-key';

/** One gateway in front of all providers. */
export interface World {
  readonly url: string;
  readonly gateway: RunningGateway;
  providerOf(column: Column): SimulatedProvider;
  /** The last request of a provider. */
  asked(column: Column): SeenRequest;
  clear(): void;
  /** No provider was asked what it would refuse, or shown what is not for it. */
  check(): void;
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const cleanup = new Cleanup();
  const providers = new Map<Vendor, SimulatedProvider>();
  for (const vendor of VENDORS) providers.set(vendor, cleanup.add(await startProvider(vendor)));
  const providerOf = ({ vendor }: Column): SimulatedProvider => {
    const provider = providers.get(vendor);
    if (provider === undefined) throw new Error(`${vendor} is not running`);
    return provider;
  };
  const gateway = cleanup.add(
    await startGateway(
      configuration((each) => providerOf(each).port),
      { env: await environment(cleanup) },
    ),
  );
  return {
    url: `http://127.0.0.1:${gateway.port(80)}`,
    gateway,
    providerOf,
    asked(each) {
      const request = providerOf(each).requests.at(-1);
      if (request === undefined) throw new Error(`${each.vendor} was not asked`);
      return request;
    },
    clear() {
      for (const provider of providers.values()) provider.clear();
    },
    check() {
      for (const [vendor, { faults, requests }] of providers) {
        expect(faults).toEqual([]);
        for (const request of requests) checkCredentials(vendor, request);
      }
    },
    close: () => cleanup.run(),
  };
}

/** Addresses end in `/`: without a path of its own, a provider with another host is asked by the client's. */
export function configuration(portOf: (column: Column) => number): string {
  const models = [...columns, ...bodyColumns].map((each) => {
    const { name, provider, model, params = '', base = '/', passthrough } = each;
    const host = `hostOverride: "127.0.0.1:${portOf(each)}", pathPrefix: ${base}`;
    const more = passthrough === undefined ? '' : `, passthrough: ${passthrough}`;
    return `  - {name: ${name}, provider: ${provider}, params: {model: "${model}", ${host}${params === '' ? '' : `, ${params}`}}${more}}`;
  });
  return `gateways: {default: {port: 80}}\nllm:\n  models:\n${models.join('\n')}\n`;
}

/** Static keys for AWS, and for Google a service account whose token endpoint runs here. */
async function environment(cleanup: Cleanup): Promise<Record<string, string>> {
  const google = await tokenEndpoint(cleanup, () => ({
    access_token: 'own-google',
    token_type: 'Bearer',
    expires_in: 3600,
  }));
  const folder = mkdtempSync(join(tmpdir(), 'matrix-'));
  cleanup.add({ close: () => rmSync(folder, { recursive: true }) });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    type: 'service_account',
    client_email: 'gw@p.iam.gserviceaccount.com',
    private_key_id: 'key-1',
    private_key: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    token_uri: `${google.origin}/token`,
  };
  writeFileSync(join(folder, 'account.json'), JSON.stringify(account));
  return {
    GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'account.json'),
    AWS_ACCESS_KEY_ID: 'AKIAOWN',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

const CREDENTIALS: Readonly<Record<Vendor, RegExp>> = {
  openai: /^authorization: Bearer own-(?:openai|custom)$/m,
  azure: /^api-key: own-azure$/m,
  anthropic: /^(?:x-api-key: own-anthropic|authorization: Bearer own-custom)$/m,
  gemini: /^(?:x-goog-api-key: AIza-own-gemini|authorization: Bearer (?:AIza-own-gemini|own-custom))$/m,
  vertex: /^authorization: Bearer own-google$/m,
  bedrock: /^authorization: AWS4-HMAC-SHA256 Credential=AKIAOWN\//m,
  cohere: /^authorization: Bearer own-cohere$/m,
};

function checkCredentials(vendor: Vendor, { headers, target }: SeenRequest): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  expect(lines.join('\n')).toMatch(CREDENTIALS[vendor]);
  expect([target, ...lines].filter((line) => line.includes(CLIENT_KEY))).toEqual([]);
}
