import { afterEach, describe, expect, test } from '@jest/globals';

import { silentLog } from '../../../../proxy/engine/policy-deps.ts';
import { LoopGuard, ProviderMetadata } from '../../../../proxy/policy/mcp-authentication/provider.ts';
import { Cleanup } from '../../../e2e/gateway.ts';
import { ManualClock } from '../../exchange/build.ts';
import { DocumentServer } from '../../resources/server.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

function text(name: string): string {
  const at = `https://${name}.test/`;
  return JSON.stringify({ issuer: at, authorization_endpoint: at, token_endpoint: at });
}

async function provider() {
  const server = cleanup.add(await DocumentServer.start((_request, response) => response.end(text('first'))));
  const clock = new ManualClock();
  const metadata = new ProviderMetadata(`${server.url}/doc`, { clock, log: silentLog().scope('mcp') });
  const issuer = async (): Promise<unknown> => (metadata.current ?? (await metadata.ask({}, null))).document['issuer'];
  return { server, clock, metadata, issuer };
}

describe('the metadata of a provider', () => {
  test('are kept for a minute, and fetched again when somebody asks after that', async () => {
    const { server, clock, issuer } = await provider();
    expect(await issuer()).toBe('https://first.test/');
    server.serve(text('second'));
    clock.advance(59_999);
    expect(await issuer()).toBe('https://first.test/');
    clock.advance(1);
    expect(await issuer()).toBe('https://second.test/');
    expect(server.asked).toHaveLength(2);
  });

  test('stay in use when the provider fails, which is left alone for some seconds', async () => {
    const { server, clock, issuer } = await provider();
    await issuer();
    server.answer = (_request, response) => response.writeHead(500).end();
    clock.advance(60_000);
    expect(await issuer()).toBe('https://first.test/');
    expect(await issuer()).toBe('https://first.test/');
    expect(server.asked).toHaveLength(2);
    clock.advance(5000);
    server.serve(text('third'));
    expect(await issuer()).toBe('https://third.test/');
  });

  test('are an error while nothing is known, and nothing of the answer is in it', async () => {
    const { server, issuer } = await provider();
    server.answer = (_request, response) => response.writeHead(403).end('secret words');
    await expect(issuer()).rejects.toThrow(/^the provider answered with status 403$/);
    server.serve('{"secret');
    await expect(issuer()).rejects.toThrow(/^the metadata cannot be used: it is not a JSON object$/);
    server.serve(text('late'));
    expect(await issuer()).toBe('https://late.test/');
  });
});

describe('a loop', () => {
  test('is seen by the mark of an earlier call to the same address, among those of others', () => {
    const one = new LoopGuard('https://one.test/');
    const two = new LoopGuard('https://two.test/');
    const first = one.mark([])?.['cdn-loop'] ?? '';
    expect(first).toMatch(/^gwctl;to=[0-9a-f]{16}$/);
    const second = two.mark([first, 'other; v=1'])?.['cdn-loop'] ?? '';
    expect(second).toContain(`${first}, other; v=1, gwctl`);
    expect(one.mark([second])).toBeNull();
    expect(two.mark([first])).not.toBeNull();
  });
});
