import type { ConfigStatus } from '../../src/admin/protocol/status.ts';
import { json, type Endpoint } from './endpoint.ts';

/** `/config_status`: which configuration is live since when, which was rejected and why, and what differs. */
export function configStatusEndpoint(status: () => ConfigStatus): Endpoint {
  return {
    path: '/config_status',
    methods: ['GET'],
    summary: 'Which configuration is live, which was rejected last and why',
    handle: () => json(status()),
  };
}
