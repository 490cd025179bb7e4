import type { Found, LintRule } from '../finding.ts';
import { isMap, under, type Visited } from '../walk.ts';

/** Providers at which clients cannot register by themselves. */
const CLOSED = ['authentik', 'entra'] as const;

/** A login whose clients are told to register where nobody can. */
export const closedRegistration: LintRule = {
  code: 'GW_LINT_MCP_REGISTRATION_CLOSED',
  severity: 'warning',
  summary:
    '`mcpAuthentication`, or `jwtAuth` with `mcp`, for a provider that registers no clients, without `clientId`: clients that are not known to it get no further',
  check: ({ raw }) =>
    logins(raw).flatMap(({ path, value }): Found[] => {
      if (!isMap(value) || value['clientId'] !== undefined) return [];
      const { provider } = value;
      const kind = isMap(provider) ? CLOSED.find((each) => each in provider) : undefined;
      if (kind === undefined) return [];
      const hint = 'register one at the provider, and name it: `clientId: …`';
      return [{ path: [...path, 'provider'], message: `clients cannot register at ${kind}`, hint }];
    }),
};

function logins(raw: unknown): readonly Visited[] {
  const inside = [...under(raw, 'jwtAuth')].flatMap(({ path, value }): Visited[] =>
    isMap(value) && value['mcp'] !== undefined ? [{ path: [...path, 'mcp'], key: 'mcp', value: value['mcp'] }] : [],
  );
  return [...under(raw, 'mcpAuthentication'), ...inside];
}
