import { expect, test } from '@jest/globals';
import { runSuite, startConformant } from '../mcp/conformance/suite.ts';
import { Cleanup } from './gateway.ts';
import { facing } from './wire.ts';

test('the public conformance suite passes through the gateway where it passes directly, which is everywhere', async () => {
  const cleanup = new Cleanup();
  const server = cleanup.add(await startConformant());
  try {
    const gateway = await facing(
      cleanup,
      `routes: [{backends: [{mcp: {dnsRebindingProtection: true, targets: [{name: one, mcp: {host: "${server.url}"}}]}}]}]`,
    );
    const direct = await runSuite(server.url);
    const through = await runSuite(`http://localhost:${gateway.http}/mcp`);
    expect(Object.fromEntries(through)).toEqual(Object.fromEntries(direct));
    expect([...through.values()].filter(({ failed }) => failed > 0)).toEqual([]);
    expect(through.size).toBeGreaterThan(25);
  } finally {
    await cleanup.run();
  }
});
