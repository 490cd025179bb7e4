import type { GatewayConfig } from '../../../src/config/ir/index.ts';
import { shownDump } from './endpoint.ts';

/** What `/config_dump` would show of a configuration that nothing runs: no endpoint has a state, no port was chosen, no version. */
export function unloadedDump({
  config,
  revision,
}: {
  readonly config: GatewayConfig;
  readonly revision: string;
}): unknown {
  return shownDump({
    config,
    revision,
    live: {
      ofBackend: () => undefined,
      ofService: () => undefined,
      ofMember: () => undefined,
      spentOn: () => undefined,
      ofVirtualModel: () => undefined,
      spentThrough: () => undefined,
      nowMs: 0,
    },
    portOf: () => 0,
    version: { version: '', git_revision: '', rust_version: '', build_profile: '', build_target: '', runtime: '' },
    threads: config.process.workerThreads,
  });
}
