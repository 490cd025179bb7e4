import { demoConfig, demoCurls } from './config.ts';
import { portOrFree } from './ports.ts';
import { startUpstreams, type DemoUpstreams } from './upstreams.ts';

export interface DemoOptions {
  /** Wanted ports; a port that somebody holds is replaced by a free one. */
  readonly port: number;
  /** Undefined: the one after `port`. */
  readonly modelPort: number | undefined;
  readonly adminPort: number;
}

/** Everything of a demo but the gateway and its traffic. */
export interface Demo {
  readonly port: number;
  /** Where language models are asked. */
  readonly modelPort: number;
  /** The configuration for the gateway. */
  readonly text: string;
  readonly curls: readonly string[];
  readonly upstreams: DemoUpstreams;
}

const STATS_PORT = 15020;
const READINESS_PORT = 15021;

/** Starts the upstreams and writes the configuration that puts a gateway in front of them. */
export async function prepareDemo(options: DemoOptions): Promise<Demo> {
  const upstreams = await startUpstreams();
  const port = await portOrFree(options.port);
  const modelPort = await portOrFree(options.modelPort ?? Math.min(options.port + 1, 65_535));
  const [admin, stats, readiness] = await Promise.all([options.adminPort, STATS_PORT, READINESS_PORT].map(portOrFree));
  const text = demoConfig(upstreams.ports, {
    port,
    modelPort,
    adminAddr: `localhost:${admin}`,
    statsAddr: `localhost:${stats}`,
    readinessAddr: `localhost:${readiness}`,
  });
  return { port, modelPort, text, curls: demoCurls(port), upstreams };
}
