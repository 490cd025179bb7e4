import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts';
import { references } from '../federation/calls/item.ts';
import { denied, unfit, unknownItem } from '../federation/members.ts';
import type { Plan } from '../federation/plan.ts';
import { routeOf } from '../federation/route.ts';
import type { McpItem } from '../guard/contract.ts';
import { rpcCodes } from '../message/codes.ts';
import type { RpcRequest } from '../message/message.ts';
import type { ClientCall } from '../session/contract.ts';
import type { TargetFailure } from '../targets/contract.ts';

/** Whom a request is for. */
export type Addressee =
  /** `why` is for people. */
  | { readonly kind: 'targets'; readonly targets: readonly number[]; readonly why: string }
  | { readonly kind: 'nobody'; readonly failure: TargetFailure };

interface Subject {
  readonly kind: McpItem['kind'];
  readonly name: string;
}

export function addresseeOf(plan: Plan, message: RpcRequest, call: ClientCall): Addressee {
  const { method, params = {} } = message;
  const route = routeOf(method);
  switch (route?.kind) {
    case 'item': {
      const name = params[route.key];
      return typeof name === 'string'
        ? ofItem(plan, method, { kind: route.item, name }, call)
        : nobody(unfit(`params.${route.key} is missing`));
    }
    case 'reference':
      return ofReference(plan, method, params, call);
    case undefined:
      return plan.targets.length === 1 && plan.rules.allows === null
        ? all(plan, `${method} is nothing that the gateway knows: the only target may`)
        : nobody(denied({ code: rpcCodes.methodNotFound, message: `Method not found: ${method}` }, 'MCP'));
    default:
      return all(
        plan,
        plan.targets.length === 1 ? `${method} goes to the only target` : `${method} goes to every target`,
      );
  }
}

/** `completion/complete`: as `callReference` of the federation reads it. */
function ofReference(plan: Plan, method: string, params: JsonObject, call: ClientCall): Addressee {
  const { ref } = params;
  if (!isJsonObject(ref)) return nobody(unfit('params.ref is missing'));
  const known = typeof ref['type'] === 'string' ? references.get(ref['type']) : undefined;
  if (known === undefined) return nobody(unfit('params.ref.type is none'));
  const [kind, key] = known;
  const name = ref[key];
  return typeof name === 'string'
    ? ofItem(plan, method, { kind, name }, call)
    : nobody(unfit(`params.ref.${key} is missing`));
}

function ofItem(plan: Plan, method: string, subject: Subject, { exchange }: ClientCall): Addressee {
  const { naming, rules, targets } = plan;
  const { kind, name } = subject;
  const byName = kind === 'tool' || kind === 'prompt';
  // Who has it is found out by the lists of all, which nobody asks for here.
  if (byName && naming.addresses && !naming.names)
    return all(plan, `${method} of ${kind} ${name} goes to the target that lists it: names do not tell which`);
  const owned = ownerOf(plan, subject);
  if (owned === null) return nobody(unknownItem({ plan }, kind, name));
  const target = targets[owned.target]?.name ?? '';
  const item = { kind, name: owned.name, target };
  const { mcp } = exchange.attributes;
  if (mcp !== null) mcp.item = item;
  if (rules.allows?.(exchange, item) === false) return nobody(unknownItem({ plan }, kind, name));
  const known = owned.name === name ? '' : `, which knows it as ${owned.name}`;
  return {
    kind: 'targets',
    targets: [owned.target],
    why: `${method} of ${kind} ${name} goes to target ${target}${known}`,
  };
}

function ownerOf({ naming }: Plan, { kind, name }: Subject) {
  if (kind === 'resource') return naming.uriIn(name);
  return kind === 'task' ? naming.taskIn(name) : naming.nameIn(name);
}

function all({ targets }: Plan, why: string): Addressee {
  return { kind: 'targets', targets: targets.map((_, at) => at), why };
}

function nobody(failure: TargetFailure): Addressee {
  return { kind: 'nobody', failure };
}
