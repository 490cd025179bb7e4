import type { Exchange } from '../../exchange/exchange.ts';
import { pathOf, type HttpResponse } from '../../exchange/message.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { McpSessions } from '../session/contract.ts';
import { rebindingRefusal } from './dns-rebinding.ts';
import type { McpHttpOptions } from './options.ts';
import { serveSse } from './sse/serve.ts';
import { serveStreamable } from './streamable/serve.ts';

/** The path of the older transport, as it stands after rewrites; every other path is the newer one's. */
const SSE_PATH = '/sse';

/** Answers one HTTP request of a client of MCP. Where the client leaves, what was begun on its behalf is cancelled. */
export async function serveMcp(
  exchange: Exchange,
  sessions: McpSessions,
  options: McpHttpOptions,
): Promise<HttpResponse | Refusal> {
  const { request } = exchange;
  const suspicious = options.dnsRebindingProtection ? rebindingRefusal(exchange) : null;
  if (suspicious !== null) return suspicious;
  return pathOf(request.target) === SSE_PATH
    ? serveSse(exchange, sessions, options)
    : serveStreamable(exchange, sessions, options);
}

export function isRefusal(outcome: HttpResponse | Refusal): outcome is Refusal {
  return 'reason' in outcome;
}
