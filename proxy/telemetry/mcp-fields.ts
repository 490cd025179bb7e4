import type { McpFacts } from '../exchange/mcp-facts.ts';
import type { AccessField, FieldValue } from './access-fields.ts';
import { sessionDigest } from './session-digest.ts';
import { short } from './short.ts';

/** Of messages to MCP servers, in the order of the line. */
export const MCP_FIELDS: readonly AccessField[] = [
  of('mcp.method.name', ({ methodName }) => methodName),
  of('mcp.target', ({ item }) => item?.target),
  of('mcp.resource.type', (facts) => resourceType(facts) || undefined),
  of('mcp.resource.uri', ({ item }) => (item?.kind === 'resource' ? item.name : undefined)),
  of('gen_ai.tool.name', ({ item }) => (item?.kind === 'tool' ? item.name : undefined)),
  of('gen_ai.prompt.name', ({ item }) => (item?.kind === 'prompt' ? item.name : undefined)),
  of('mcp.session.id', ({ sessionId }) => (sessionId === null ? undefined : sessionDigest(sessionId))),
  of('mcp.error.code', ({ error }) => fieldOf(error?.['code'])),
  of('mcp.error.message', ({ error }) => fieldOf(error?.['message'])),
];

const LISTS: readonly (readonly [prefix: string, type: string])[] = [
  ['tools/', 'tool'],
  ['prompts/', 'prompt'],
  ['resources/templates/', 'templates'],
  ['resources/', 'resource'],
  ['tasks/', 'task'],
];

/** What a message is about: that of its item, else what its method lists; empty for neither. */
export function resourceType({ item, methodName }: McpFacts): string {
  if (item !== null) return item.kind;
  return LISTS.find(([prefix]) => methodName?.startsWith(prefix) === true)?.[1] ?? '';
}

function of(key: string, read: (facts: McpFacts) => FieldValue): AccessField {
  return [key, ({ mcp }) => (mcp === undefined ? undefined : short(read(mcp)))];
}

function fieldOf(value: unknown): FieldValue {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
