import type { Agent } from 'undici';

import type { RemoteDocument } from '../../src/config/ir/index.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { freshForMs, type ReadHeader } from './freshness.ts';

/** Everything, redirects and body included. */
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;
const MIB = 1024 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export type Fetched =
  | { readonly kind: 'text'; readonly text: string; readonly etag: string | undefined; readonly freshMs: number }
  /** The server says that what its `etag` names is still right. */
  | { readonly kind: 'unchanged'; readonly freshMs: number };

/** What differs between kinds of documents. */
interface Manner {
  readonly accept: string;
  readonly maxBytes: number;
  /** Until the next fetch, where the answer does not say. */
  readonly freshMs?: number;
}

const KEYS: Manner = { accept: 'application/json, application/jwk-set+json;q=0.9, */*;q=0.1', maxBytes: MIB };

/** Descriptions of services are long, and change with their releases. */
const DESCRIPTION: Manner = {
  accept: 'application/vnd.oai.openapi+json, application/json;q=0.9, application/yaml;q=0.8, */*;q=0.1',
  maxBytes: 16 * MIB,
  freshMs: 24 * 3_600_000,
};

export interface FetchOptions {
  /** What kind of document is expected; the usual one where it is not said. */
  readonly content?: RemoteDocument['content'] | undefined;
  /** Of the content that is already there. */
  readonly etag: string | undefined;
  readonly signal: AbortSignal;
}

export type FetchDocument = (url: string, options: FetchOptions) => Promise<Fetched>;

/** Fetches a document over HTTP. Bounded in time, size and redirects; throws an error that says in a few words what was wrong. */
export const fetchDocument: FetchDocument = async (url, options) => {
  // Loaded by the first document: most gateways fetch none.
  const undici = await import('undici');
  // A connection for a document that is asked for every few minutes is not worth keeping.
  const agent = new undici.Agent({ connect: { timeout: TIMEOUT_MS }, pipelining: 0 });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    const manner = options.content === 'openApi' ? DESCRIPTION : KEYS;
    return await follow(new URL(url), { ...options, signal, agent, manner });
  } catch (error) {
    throw new Error(timeout.aborted ? `no whole answer within ${TIMEOUT_MS / 1000} s` : reasonOf(error), {
      cause: error,
    });
  } finally {
    void agent.destroy();
  }
};

type Job = FetchOptions & { readonly agent: Agent; readonly manner: Manner };

async function follow(first: URL, job: Job): Promise<Fetched> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await get(url, job);
    if ('kind' in answer) return answer;
    url = nextUrl(url, answer.location);
  }
  throw new Error(`more than ${MAX_REDIRECTS} redirects`);
}

async function get(url: URL, { agent, signal, etag, manner }: Job): Promise<Fetched | { readonly location: string }> {
  const { statusCode, headers, body } = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    signal,
    headers: {
      accept: manner.accept,
      'user-agent': 'gwctl',
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
    },
  });
  const header: ReadHeader = (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
  const freshMs = (): number => freshForMs(header, Date.now(), manner.freshMs);
  if (statusCode === 200) {
    const text = await readBody(body, manner.maxBytes);
    return { kind: 'text', text, etag: header('etag'), freshMs: freshMs() };
  }
  // The rest of the answer is cut with the connection; its error is nobody's business.
  body.on('error', () => {});
  const location = header('location');
  if (REDIRECTS.has(statusCode) && location !== undefined) return { location };
  if (statusCode === 304 && etag !== undefined) return { kind: 'unchanged', freshMs: freshMs() };
  throw new Error(`the server answered with status ${statusCode}`);
}

async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes / MIB} MiB`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Error('the answer is not UTF-8 text');
  }
}

function nextUrl(from: URL, location: string): URL {
  if (!URL.canParse(location, from)) throw new Error('the server redirects to an address that cannot be read');
  const to = new URL(location, from);
  if (to.protocol !== 'http:' && to.protocol !== 'https:') throw new Error(`the server redirects to ${to.protocol}`);
  if (from.protocol === 'https:' && to.protocol === 'http:') throw new Error('the server redirects from https to http');
  if (to.username !== '' || to.password !== '') throw new Error('the server redirects to an address with credentials');
  return to;
}

function reasonOf(error: unknown): string {
  return messageOf(error) || 'the connection failed';
}
