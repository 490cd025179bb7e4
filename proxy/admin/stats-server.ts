import type { ListenAddress } from '../../src/config/ir/index.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { contentTypes, negotiateFormat, writeExposition, type MetricFamily } from '../telemetry/exposition.ts';
import { LocalServer } from './local-server.ts';

const PATHS = new Set(['/metrics', '/stats/prometheus']);

/** Opens the metrics endpoint; `collect` reads every number at the moment of the scrape. */
export function openStatsServer(
  address: ListenAddress,
  collect: () => Promise<readonly MetricFamily[]>,
): Promise<LocalServer> {
  return LocalServer.open({
    name: 'metrics',
    setting: 'config.statsAddr (STATS_ADDR)',
    address,
    handle: async (request, response) => {
      request.resume();
      if (!PATHS.has((request.url ?? '').split('?', 1)[0] ?? '')) {
        response.writeHead(404).end();
        return;
      }
      try {
        const format = negotiateFormat(request.headers.accept);
        const body = writeExposition(await collect(), format);
        response
          .writeHead(200, { 'content-type': contentTypes[format] })
          .end(request.method === 'HEAD' ? undefined : body);
      } catch (error) {
        response.writeHead(500, { 'content-type': 'text/plain' }).end(`${messageOf(error)}\n`);
      }
    },
  });
}
