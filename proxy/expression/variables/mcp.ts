import type { Variable } from '../../../src/cel/compile/host.ts';
import { JsonMap, RecordMap } from '../../../src/cel/value/map.ts';
import type { Value } from '../../../src/cel/value/value.ts';
import type { McpFacts, McpItemFacts } from '../../exchange/mcp-facts.ts';
import type { EvalContext } from '../contract.ts';
import { type Reader, type Readers, view } from './view.ts';

type Kind = McpItemFacts['kind'];
type Read = (facts: McpFacts, item: McpItemFacts) => Value | undefined;

const itemFields: Readonly<Record<string, Read>> = {
  target: (_facts, { target }) => target,
  name: (_facts, { name }) => name,
};

const toolFields: Readonly<Record<string, Read>> = {
  ...itemFields,
  arguments: (facts) => (facts.arguments === null ? undefined : new JsonMap(facts.arguments)),
  result: ({ result }) => (result === null ? undefined : new JsonMap(result)),
  error: ({ error }) => (error === null ? undefined : new JsonMap(error)),
};

const kinds: ReadonlyMap<string, { readonly kind: Kind; readonly fields: Readonly<Record<string, Read>> }> = new Map([
  ['tool', { kind: 'tool', fields: toolFields }],
  ['prompt', { kind: 'prompt', fields: itemFields }],
  ['resource', { kind: 'resource', fields: itemFields }],
  ['task', { kind: 'task', fields: itemFields }],
]);

/** `mcp`: a message to MCP servers, as far as it is known by now; of the kinds of items only the one that it is about. */
export const mcpVariable: Variable<EvalContext> = view(
  {
    methodName: ({ attributes }) => attributes.mcp?.methodName ?? undefined,
    sessionId: ({ attributes }) => attributes.mcp?.sessionId ?? undefined,
    ...itemReaders(),
  },
  {
    present: ({ attributes }) => attributes.mcp !== null,
    // Rules read `mcp.tool.name` once for every tool of a list.
    deep: ([first, second]) => {
      const { kind, fields } = kinds.get(first.name) ?? { kind: 'tool', fields: {} };
      const read = Object.hasOwn(fields, second.name) ? fields[second.name] : undefined;
      return read === undefined ? undefined : of(kind, read);
    },
    inner: Object.fromEntries(Array.from(kinds, ([name, { fields }]) => [name, Object.keys(fields)])),
  },
);

function itemReaders(): Readers {
  return Object.fromEntries(
    Array.from(kinds, ([name, { kind, fields }]) => {
      const entries = Object.entries(fields);
      return [name, of(kind, (facts, item) => new RecordMap(recordOf(entries, facts, item)))];
    }),
  );
}

function recordOf(
  fields: readonly (readonly [name: string, read: Read])[],
  facts: McpFacts,
  item: McpItemFacts,
): Readonly<Record<string, Value | undefined>> {
  return Object.fromEntries(fields.map(([name, read]) => [name, read(facts, item)]));
}

function of(kind: Kind, read: Read): Reader {
  return ({ attributes: { mcp } }) =>
    mcp === null || mcp.item === null || mcp.item.kind !== kind ? undefined : read(mcp, mcp.item);
}
