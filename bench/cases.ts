import { CHAT_PATH, chatRequest, type LlmCase } from './llm.ts';
import { callHeaders, callRequest, MCP_PATH, type McpCase } from './mcp.ts';
import { guarded, manyKeys, manyRules, type PolicyCase } from './policies.ts';

/** One kind of traffic. */
export interface BenchCase {
  readonly name: string;
  readonly summary: string;
  readonly path: string;
  /** Bytes that the client sends; none means GET. */
  readonly bodyBytes: number;
  /** What these bytes are, where it matters. */
  readonly body?: string;
  readonly connections: number;
  /** Requests in flight on a connection. */
  readonly streams: number;
  /**
   * How long a client waits before it asks again, so that subjects of different speed are asked about as often. At full
   * load the faster one keeps the other cores awake, and what it sends wakes nobody; waking costs more than the work.
   */
  readonly pauseMs?: number;
  readonly tls: boolean;
  readonly http2: boolean;
  /** Number of routes in a proxy that has routes; the path of this case meets the last one. */
  readonly routes: number;
  /** Policies of the route; such a case is for the engine alone. */
  readonly policy?: PolicyCase;
  /** The service is a language model; such a case is for gateways of those, and for the engine with a plain route. */
  readonly llm?: LlmCase;
  /** The service is an MCP server; such a case is for the engine alone, and for the engine with a plain route. */
  readonly mcp?: McpCase;
  /** What clients send beside the policy's. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What clients send. */
export function headersOf({ policy, headers }: BenchCase): Readonly<Record<string, string>> {
  return { ...policy?.headers, ...headers };
}

/** Empty for GET. */
export function bodyOf({ body, bodyBytes }: BenchCase): string {
  return body ?? 'a'.repeat(bodyBytes);
}

const PLAIN = { bodyBytes: 0, connections: 64, streams: 1, tls: false, http2: false, routes: 1 } as const;

function chat(llm: LlmCase, stream = false): Omit<BenchCase, 'name' | 'summary'> {
  const body = chatRequest({ stream });
  const headers = { 'content-type': 'application/json' };
  return { ...PLAIN, path: CHAT_PATH, body, bodyBytes: body.length, llm, headers };
}

/** About 6,000 requests a second from 64 clients. */
const PAUSE_MS = 10;

function toolCall(): Omit<BenchCase, 'name' | 'summary'> {
  const mcp = { target: 'one' };
  const body = callRequest();
  return { ...PLAIN, path: MCP_PATH, body, bodyBytes: body.length, mcp, headers: callHeaders(mcp) };
}

export const CASES: readonly BenchCase[] = [
  { ...PLAIN, name: 'small', summary: 'small JSON', path: '/r/0/small' },
  { ...PLAIN, name: 'post', summary: '1 KiB POST', path: '/r/0/small', bodyBytes: 1024 },
  { ...PLAIN, name: 'download', summary: '1 MiB download', path: '/r/0/download', connections: 8 },
  { ...PLAIN, name: 'stream', summary: '200-chunk event stream', path: '/r/0/stream', connections: 8 },
  {
    ...PLAIN,
    name: 'routes',
    summary: 'small JSON through the last of 1,000 routes',
    path: '/r/999/small',
    routes: 1000,
  },
  { ...PLAIN, name: 'tls', summary: 'small JSON over TLS', path: '/r/0/small', tls: true },
  {
    ...PLAIN,
    name: 'http2',
    summary: 'small JSON over HTTP/2 and TLS',
    path: '/r/0/small',
    connections: 8,
    streams: 8,
    tls: true,
    http2: true,
  },
  {
    ...PLAIN,
    name: 'policies',
    summary: 'small JSON with a token, rules, a rate limit and a transformation',
    path: '/r/0/small',
    policy: guarded(),
  },
  { ...PLAIN, name: 'keys', summary: 'small JSON with one of 100,000 keys', path: '/r/0/small', policy: manyKeys() },
  { ...PLAIN, name: 'rules', summary: 'small JSON after 250 rules', path: '/r/0/small', policy: manyRules() },
  {
    ...chat({ provider: 'openAI' }),
    name: 'llm-chat',
    summary: 'chat completion by a service that speaks the same',
    pauseMs: PAUSE_MS,
  },
  {
    ...chat({ provider: 'anthropic' }),
    name: 'llm-translate',
    summary: 'chat completion by a service of messages',
    pauseMs: PAUSE_MS,
  },
  {
    ...chat({ provider: 'anthropic' }, true),
    name: 'llm-stream',
    summary: 'streamed chat completion by a service of messages, 200 chunks',
    connections: 8,
  },
  { ...toolCall(), name: 'mcp-call', summary: 'call of a tool of one server, in a session', pauseMs: PAUSE_MS },
];
