import type { McpProcessor } from '../../../src/config/ir/policy/mcp-guardrails.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import { headerFields, mayChange } from '../../policy/header-changes.ts';
import type { McpHeader, McpRequestResult } from '../../services/messages/mcp.ts';

const PSEUDO = [':method', ':scheme', ':authority', ':path'] as const;

/** Which headers of a request a processor sees: one entry for each value. */
export function compileHeaders(spec: McpProcessor['requestHeaders']): (request: HttpRequest) => McpHeader[] {
  const allowed = new Set(spec.allowed);
  const disallowed = new Set(spec.disallowed);
  const shown = (name: string): boolean => (allowed.size === 0 || allowed.has(name)) && !disallowed.has(name);
  const pseudo = PSEUDO.filter(shown);
  const host = allowed.has('host') && !disallowed.has('host');
  return (request) => {
    const headers: McpHeader[] = pseudo.map((name) => header(name, pseudoOf(request, name)));
    if (host) headers.push(header('host', request.authority));
    for (const [name, value] of request.headers) if (name !== 'host' && shown(name)) headers.push(header(name, value));
    return headers;
  };
}

/** Header values are bytes, one per character. */
function header(key: string, value: string): McpHeader {
  return { key, value: Buffer.from(value, 'latin1') };
}

function pseudoOf(request: HttpRequest, name: (typeof PSEUDO)[number]): string {
  switch (name) {
    case ':method':
      return request.method;
    case ':scheme':
      return request.scheme;
    case ':authority':
      return request.authority;
    case ':path':
      return request.target;
  }
}

/** Fields that say how the message is carried, or to whom: the transport's own business. */
const OWN: ReadonlySet<string> = new Set([
  'host',
  'accept',
  'accept-encoding',
  'content-type',
  'content-encoding',
  'expect',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
]);

/** The changes that a processor asks for; what cannot be a header, or is not its business, is left out. */
export function headerMutation(mutation: McpRequestResult['headerMutation']): ((headers: Headers) => void) | null {
  const set = headerFields(mutation?.set?.map(({ key, value }) => ({ key, rawValue: value }))).filter(({ name }) =>
    isFree(name),
  );
  const remove = (mutation?.remove ?? [])
    .map((name) => name.toLowerCase())
    .filter((name) => mayChange(name) && isFree(name));
  if (set.length === 0 && remove.length === 0) return null;
  return (headers) => {
    const replaced = new Set<string>();
    for (const { name, value } of set) {
      if (replaced.has(name)) headers.append(name, value);
      else headers.set(name, value);
      replaced.add(name);
    }
    for (const name of remove) headers.remove(name);
  };
}

function isFree(name: string): boolean {
  return !name.startsWith(':') && !OWN.has(name);
}
