import type { Headers } from '../../../exchange/headers.ts';
import type { McpItem } from '../../guard/contract.ts';
import { rpcCodes } from '../../message/codes.ts';
import { denied, unknownItem } from '../members.ts';
import { listOf, routeOf, type ListRoute } from '../route.ts';
import type { FanOut } from './fan-out.ts';
import { gather, type Answer } from './gather.ts';
import { wholeList } from './lists.ts';

/**
 * Which target has a tool or prompt, where names do not tell: all of them are asked for their lists. Null when the client
 * has been told why there is none.
 */
export async function locate(
  fan: FanOut,
  kind: 'tool' | 'prompt',
  name: string,
  headers: Headers,
): Promise<number | null> {
  const known = await owners(fan, kind, name, { headers, use: 'look-up' });
  if (known === null) return null;
  // A list that was kept for a moment may be older than the item.
  const found = known.length === 0 ? await owners(fan, kind, name, { headers, use: 'anew' }) : known;
  if (found === null) return null;
  const [owner, other] = found;
  if (owner !== undefined && other === undefined) return owner;
  const seen = found.some((target) =>
    allowed(fan, { kind, name, target: fan.members.plan.targets[target]?.name ?? '' }),
  );
  const message = `${kind} ${name} is served by multiple targets`;
  fan.fail(seen ? denied({ code: rpcCodes.invalidParams, message }, 'MCP') : unknownItem(fan.members, kind, name));
  return null;
}

/** Who may use none of several items of a name is not told that there are some. */
function allowed(fan: FanOut, item: McpItem): boolean {
  const { allows } = fan.members.plan.rules;
  return allows === null || allows(fan.call.exchange, item);
}

async function owners(
  fan: FanOut,
  kind: 'tool' | 'prompt',
  name: string,
  how: { readonly headers: Headers; readonly use: 'look-up' | 'anew' },
): Promise<number[] | null> {
  const method = listOf[kind];
  const list = routeOf(method);
  if (list?.kind !== 'list') return [];
  const parts = fan.members.plan.targets.map((_, target) =>
    wholeList(fan, { target, list, method, headers: how.headers }, how.use),
  );
  const answers = await gather(fan, parts);
  return answers?.filter((answer) => has(answer, list, name)).map(({ target }) => target) ?? null;
}

function has(answer: Answer, list: ListRoute, name: string): boolean {
  const items = answer.result[list.member];
  return Array.isArray(items) && items.some((item) => nameOf(item) === name);
}

function nameOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'name' in item ? item.name : undefined;
}
