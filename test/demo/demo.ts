import { demoConfig } from '../../src/demo/config.ts';
import { startUpstreams } from '../../src/demo/upstreams.ts';
import { type Cleanup, type RunningGateway, startGateway } from '../e2e/gateway.ts';

export interface RunningDemo extends RunningGateway {
  /** Of the gateway, on its free port. */
  readonly base: string;
}

/** The demo's gateway with everything behind it. */
export async function startDemo(cleanup: Cleanup): Promise<RunningDemo> {
  const upstreams = cleanup.add(await startUpstreams());
  const here = '127.0.0.1:1';
  const addresses = { port: 80, modelPort: 81, adminAddr: here, statsAddr: here, readinessAddr: here };
  const gateway = cleanup.add(await startGateway(demoConfig(upstreams.ports, addresses)));
  return { ...gateway, base: `http://127.0.0.1:${gateway.port(80)}` };
}
