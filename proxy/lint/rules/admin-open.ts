import { isIP } from 'node:net';

import type { LintRule } from '../finding.ts';

/** The admin interface knows no login: whoever reaches it can read everything and stop the gateway. */
export const adminOpen: LintRule = {
  code: 'GW_LINT_ADMIN_OPEN',
  severity: 'error',
  summary: 'the admin interface listens on more than this machine',
  check: ({ config }) => {
    const { adminAddr } = config.process;
    if (adminAddr.kind !== 'tcp') return [];
    const open = adminAddr.hosts.find((host) => !isLoopback(host));
    if (open === undefined) return [];
    return [
      {
        path: ['config', 'adminAddr'],
        message: `anybody who reaches ${open}:${adminAddr.port} can read the whole configuration and stop the gateway`,
        hint: 'use localhost:15000, a unix socket (`unix:/path`), or `off`',
      },
    ];
  },
};

function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === 'localhost';
}
