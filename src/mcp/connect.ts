import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { InterruptedError } from '../admin/client/errors.ts';
import { GwError } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import { mcpError, refusedLogin, type Refusal } from './failure.ts';
import { askLogin, metadataAddress } from './login.ts';

export interface McpPlace {
  readonly url: URL;
  /** `sse` for servers of the first protocol version. */
  readonly transport: 'streamable' | 'sse';
  /** `auto` asks the server for the newest that both speak. */
  readonly protocol: 'auto' | 'legacy';
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly tls: { readonly insecure: boolean; readonly ca: string | undefined };
  /** For each answer; milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly version: string;
  /** Answers what a server asks in the middle of a call; without it servers are told that nobody can be asked. */
  readonly elicit?: ((asked: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>) | undefined;
}

/** What a server wants to know of whoever calls it. */
export interface Elicitation {
  readonly message: string;
  readonly schema: JsonObject;
}

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' | 'cancel' };

/** A person waits for the message. */
const METADATA_MS = 5000;
/** As long a body is waited for that only explains. */
const BODY_MS = 1000;

/**
 * Connects to an MCP server, or to a gateway that looks like one, does `work`, and takes leave. Throws a `GwError` in words.
 */
export async function withServer<T>(place: McpPlace, work: (client: Client) => Promise<T>): Promise<T> {
  const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { Agent, fetch } = await import('undici');
  const { insecure, ca } = place.tls;
  const agent = new Agent({
    headersTimeout: place.timeoutMs,
    bodyTimeout: 0,
    connect: { timeout: place.timeoutMs, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) },
  });
  // `as`: undici's own `fetch` is that of the runtime, with an agent.
  const send = ((input: URL | string, init?: RequestInit) =>
    fetch(input, { ...(init as object), dispatcher: agent })) as unknown as typeof globalThis.fetch;
  let challenge: string | null = null;
  let refused: Promise<Refusal> | null = null;
  const options = {
    fetch: (async (input: URL | string, init?: RequestInit) => {
      const answer = await send(input, init);
      if (answer.status === 401) challenge = answer.headers.get('www-authenticate') ?? '';
      if (answer.status >= 400 && init?.method === 'POST') refused = refusalOf(answer.clone());
      return answer;
    }) as typeof globalThis.fetch,
    requestInit: { headers: place.headers.map(([name, value]): [string, string] => [name, value]) },
  };
  const client = new Client(
    { name: 'gwctl', version: place.version },
    {
      ...(place.protocol === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {}),
      ...(place.elicit === undefined ? {} : { capabilities: { elicitation: { form: {} } } }),
    },
  );
  answerQuestions(client, place);
  const Transport = place.transport === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
  const transport = new Transport(place.url, options);
  try {
    await client.connect(transport, { timeout: place.timeoutMs, signal: place.signal });
    const result = await work(client);
    // A session that nobody ends stays until it has lain idle long enough.
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => {});
    return result;
  } catch (error) {
    if (place.signal.aborted)
      throw place.signal.reason instanceof GwError ? place.signal.reason : new InterruptedError();
    if (challenge !== null) throw await loginNeeded(challenge, place, send);
    throw mcpError(error, place.url, await refused);
  } finally {
    await client.close().catch(() => {});
    await agent.destroy();
  }
}

/** What was answered instead of what was asked for. The library tells only parts of it. */
async function refusalOf(answer: Response): Promise<Refusal> {
  const { status, headers } = answer;
  const late = new Promise<string>((resolve) => setTimeout(resolve, BODY_MS, '').unref());
  const body = await Promise.race([answer.text().catch(() => ''), late]);
  return { status, reason: headers.get('x-gw-reason'), body };
}

function answerQuestions(client: Client, { elicit, signal }: McpPlace): void {
  if (elicit === undefined) return;
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    if (params.mode === 'url') return { action: 'decline' };
    // `as`: it came as JSON, and an answer goes as JSON.
    const schema = params.requestedSchema as unknown as JsonObject;
    const answer = await elicit({ message: params.message, schema }, AbortSignal.any([signal, mcpReq.signal]));
    return answer as ElicitResult;
  });
}

async function loginNeeded(challenge: string, place: McpPlace, send: typeof globalThis.fetch): Promise<GwError> {
  const { url, headers, timeoutMs, signal } = place;
  const address = metadataAddress(challenge, url);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(Math.min(timeoutMs, METADATA_MS))]);
  const get = (from: URL): Promise<Response> => send(from, { signal: patience, redirect: 'error' });
  const login = address === null ? null : await askLogin(address, get);
  const withToken = headers.some(([name]) => name.toLowerCase() === 'authorization');
  return refusedLogin(url, { withToken, login });
}
