/** `npm run conformance:mcp`: the public conformance suite, asked of a server directly and through the gateway. */
import { startGateway } from '../../e2e/gateway.ts';
import { runSuite, startConformant, type Outcome } from './suite.ts';

const server = await startConformant();
const gateway = await startGateway(
  `gateways: {conformance: {port: 80}}
routes: [{backends: [{mcp: {dnsRebindingProtection: true, targets: [{name: one, mcp: {host: "${server.url}"}}]}}], gateways: conformance}]`,
);
const direct = await runSuite(server.url);
const through = await runSuite(`http://localhost:${gateway.port(80)}/mcp`);
await Promise.all([gateway.close(), server.close()]);

const text = (outcome: Outcome | undefined): string =>
  outcome === undefined ? '-' : `${outcome.passed} passed${outcome.failed === 0 ? '' : `, ${outcome.failed} failed`}`;
const scenarios = [...new Set([...direct.keys(), ...through.keys()])];
for (const name of scenarios)
  process.stdout.write(
    `${name.padEnd(32)}direct: ${text(direct.get(name)).padEnd(12)}through: ${text(through.get(name))}\n`,
  );
const differing = scenarios.filter((name) => text(direct.get(name)) !== text(through.get(name)));
const sum = (all: ReadonlyMap<string, Outcome>): number =>
  [...all.values()].reduce((total, { passed }) => total + passed, 0);
process.stdout.write(
  `\n${sum(direct)} checks passed directly, ${sum(through)} through the gateway; ${differing.length} scenarios differ\n`,
);
process.exit(differing.length === 0 ? 0 : 1);
