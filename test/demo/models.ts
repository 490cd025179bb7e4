import { demoConfig } from '../../src/demo/config.ts';
import { portOrFree } from '../../src/demo/ports.ts';
import { startUpstreams } from '../../src/demo/upstreams.ts';
import { startGateway, type RunningGateway } from '../e2e/gateway.ts';

export interface RunningModels extends RunningGateway {
  /** Where the models are asked. */
  readonly modelPort: number;
  /** The simulated OpenAI itself. */
  readonly upstreamPort: number;
}

/** The demo's gateway with its simulated models behind it. */
export async function startModels(): Promise<RunningModels> {
  const upstreams = await startUpstreams();
  const here = '127.0.0.1:1';
  // Dumps name the port of the configuration, which commands go by.
  const modelPort = await portOrFree(0);
  const addresses = { port: 80, modelPort, adminAddr: here, statsAddr: here, readinessAddr: here };
  const gateway = await startGateway(demoConfig(upstreams.ports, addresses));
  return {
    ...gateway,
    modelPort,
    upstreamPort: upstreams.ports.openai,
    close: async () => {
      await gateway.close();
      await upstreams.close();
    },
  };
}
