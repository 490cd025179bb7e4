import type { ProcessConfig } from '../../src/config/ir/index.ts';
import type { Log } from '../../src/shared/log.ts';
import type { LocalServer } from '../admin/local-server.ts';
import { openReadinessServer } from '../admin/readiness.ts';
import type { AdminRouter } from '../admin/router.ts';
import { openAdminServer } from '../admin/server.ts';
import { openStatsServer } from '../admin/stats-server.ts';
import type { MetricFamily } from '../telemetry/exposition.ts';

export interface LocalServersOptions {
  readonly config: Pick<ProcessConfig, 'adminAddr' | 'statsAddr' | 'readinessAddr'>;
  readonly router: AdminRouter;
  readonly collect: () => Promise<readonly MetricFamily[]>;
  readonly pending: () => readonly string[];
  readonly log: Log;
}

/** Where the servers beside the traffic listen; null for those that are off. */
export interface LocalAddresses {
  readonly admin: string | null;
  readonly stats: string | null;
  readonly readiness: string | null;
}

/** The admin, metrics and readiness servers of the control thread. */
export class LocalServers {
  readonly #admin: LocalServer;
  readonly #stats: LocalServer;
  readonly #readiness: LocalServer;

  private constructor(admin: LocalServer, stats: LocalServer, readiness: LocalServer) {
    this.#admin = admin;
    this.#stats = stats;
    this.#readiness = readiness;
  }

  /** All or none. */
  static async open({ config, router, collect, pending, log }: LocalServersOptions): Promise<LocalServers> {
    const opened: LocalServer[] = [];
    const keep = async (opening: Promise<LocalServer>): Promise<LocalServer> => {
      const server = await opening;
      opened.push(server);
      return server;
    };
    try {
      const admin = await keep(openAdminServer(config.adminAddr, router));
      const stats = await keep(openStatsServer(config.statsAddr, collect));
      const readiness = await keep(openReadinessServer(config.readinessAddr, pending, log));
      return new LocalServers(admin, stats, readiness);
    } catch (error) {
      await Promise.all(opened.map((server) => server.close()));
      throw error;
    }
  }

  get addresses(): LocalAddresses {
    return { admin: this.#admin.address, stats: this.#stats.address, readiness: this.#readiness.address };
  }

  async close(): Promise<void> {
    await Promise.all([this.#admin.close(), this.#stats.close(), this.#readiness.close()]);
  }
}
