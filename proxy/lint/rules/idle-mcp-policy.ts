import { type IdleMcpPolicy, idleMcpPolicies } from '../../policy/idle-mcp-policies.ts';
import { nameOfEntry } from '../entry-name.ts';
import type { Found, LintRule } from '../finding.ts';
import { type Path, under } from '../walk.ts';

/** Rules or processors of MCP where no server of MCP is called. */
export const idleMcpPolicy: LintRule = {
  code: 'GW_LINT_MCP_POLICY_WITHOUT_SERVERS',
  severity: 'warning',
  summary: '`mcpAuthorization` or `mcpGuardrails` where no backend is of the kind `mcp`: nothing is looked at',
  check: ({ config, raw }) =>
    idleMcpPolicies(config).map((idle): Found => {
      const hint = 'write the servers as a backend of the kind `mcp`: messages to other kinds are not looked into';
      return { path: pathOf(idle, raw), message: idle.message, hint };
    }),
};

const LISTS = { policy: 'policies', route: 'routes', backend: 'backends' } as const;

function pathOf({ at, policy }: IdleMcpPolicy, raw: unknown): Path {
  const list = LISTS[at.kind];
  const found = [...under(raw, policy)].find(({ path }) => {
    const [first, index] = path;
    return first === list && typeof index === 'number' && nameOfEntry(raw, [list, index]) === at.name;
  });
  return found?.path ?? [...under(raw, policy)][0]?.path ?? [];
}
