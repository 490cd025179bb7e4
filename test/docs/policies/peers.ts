import { echo, upstream, type Cleanup } from '../../e2e/gateway.ts';

/** What stands behind the ports that examples name; each is started on a free port when an example uses it. */
export const peers: Readonly<Record<number, (cleanup: Cleanup) => Promise<number>>> = {
  /** Answers with what it was asked, as JSON. */
  9000: async (cleanup) => cleanup.add(await upstream(echo)).port,
};
