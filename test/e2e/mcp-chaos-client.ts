/** Clients that do everything a client may, in an order that a number decides, and account for every answer. */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';

import { DEEDS, type Deed } from './mcp-chaos-server.ts';
import { MCP_HEADERS, type Message } from './mcp-raw.ts';

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const TARGETS = ['legacy', 'modern', 'events', 'program', 'api'] as const;
const MODERN = '2026-07-28';
/** Nothing takes as long as this but what is lost. */
const LOST_MS = 15_000;

type Outcome =
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: IncomingMessage['headers'];
      readonly body: string;
    };

interface Sent {
  readonly outcome: Promise<Outcome>;
  leave(): void;
}

export interface Setting {
  readonly port: () => number;
  readonly seed: number;
  readonly path?: string;
  /** What must not be, in words. */
  readonly violations: string[];
  /** How often what came of requests, for whoever looks on. */
  readonly counts: Map<string, number>;
}

/** One client of either generation over plain HTTP. */
export class ChaosClient {
  readonly name: string;
  readonly #modern: boolean;
  readonly #setting: Setting;
  readonly #random: () => number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 });
  #session: string | null = null;
  #stream: Sent | null = null;
  #next = 0;

  constructor(name: string, modern: boolean, setting: Setting) {
    this.name = name;
    this.#modern = modern;
    this.#setting = setting;
    this.#random = dice(setting.seed);
  }

  async step(): Promise<void> {
    if (!this.#modern && this.#session === null) return this.#begin();
    const at = this.#random();
    if (at < 0.62) return this.#call(this.#pick(DEEDS));
    if (at < 0.72) return this.#listed();
    if (at < 0.78) return this.#known(this.#modern ? 'server/discover' : 'ping', {});
    if (at < 0.83) return this.#known('tools/call', { name: 'nobody_say', arguments: {} });
    if (at < 0.9) return this.#listen();
    if (at < 0.95) return this.#together();
    return this.#modern ? this.#listed() : this.#end();
  }

  /** Ends what it has open; the session of every other client is left to lie idle. */
  async leave(): Promise<void> {
    this.#stream?.leave();
    if (this.#random() < 0.5 && this.#session !== null) await this.#end();
    this.#agent.destroy();
  }

  async #begin(): Promise<void> {
    const clientInfo = { name: this.name, version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: { roots: {} }, clientInfo };
    const answer = await this.#plain('initialize', params);
    const id = answer?.headers['mcp-session-id'];
    if (typeof id !== 'string') return;
    this.#session = id;
    await this.#send('POST', { method: 'notifications/initialized' }).outcome;
  }

  async #call(deed: Deed): Promise<void> {
    const target = this.#pick(TARGETS);
    const id = this.#id();
    const tag = `${this.name}/${id}`;
    const wish = { deed, tag };
    const params = {
      name: `${target}_say`,
      arguments: target === 'api' ? { query: wish } : wish,
      _meta: { progressToken: tag },
    };
    const sent = this.#send('POST', this.#request(id, 'tools/call', params));
    const ending = this.#random();
    const patience = deed === 'never' ? 1 : 0.15;
    if (ending < patience) {
      await new Promise((resolve) => setTimeout(resolve, this.#random() * 40));
      if (ending < patience / 2 || this.#modern) sent.leave();
      else await this.#cancel(id);
    }
    this.#check(await this.#awaited(sent, tag), { id, tag });
  }

  async #cancel(requestId: string | number): Promise<void> {
    await this.#send('POST', { method: 'notifications/cancelled', params: { requestId } }).outcome;
  }

  /** Several at a time, some of them under the same id. */
  async #together(): Promise<void> {
    await Promise.all([this.#call('slow'), this.#call('answer'), this.#listed(), this.#call('ask')]);
  }

  #listed(): Promise<void> {
    return this.#known('tools/list', {});
  }

  async #known(method: string, params: object): Promise<void> {
    await this.#plain(method, params);
  }

  async #plain(method: string, params: object): Promise<(Outcome & { readonly kind: 'answer' }) | null> {
    const id = this.#id();
    const outcome = await this.#awaited(this.#send('POST', this.#request(id, method, params)), `${method} ${id}`);
    this.#check(outcome, { id, tag: null });
    return outcome.kind === 'answer' ? outcome : null;
  }

  /** The stream of the session, or of a subscription; one at a time, and none for long. */
  async #listen(): Promise<void> {
    const before = this.#stream;
    before?.leave();
    const notifications = { toolsListChanged: true };
    const id = this.#id();
    const sent = this.#modern
      ? this.#send('POST', this.#request(id, 'subscriptions/listen', { notifications }))
      : this.#send('GET', null);
    this.#stream = sent;
    await before?.outcome;
    void sent.outcome.then((outcome) => this.#check(outcome, { id: this.#modern ? id : null, tag: null }));
  }

  async #end(): Promise<void> {
    const sent = this.#send('DELETE', null);
    this.#session = null;
    await sent.outcome;
  }

  #request(id: string | number, method: string, params: object): object {
    if (!this.#modern) return { id, method, params };
    const meta = '_meta' in params ? (params._meta as object) : {}; // of the calls above
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: this.name, version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    return { id, method, params: { ...params, _meta: { ...meta, ...envelope } } };
  }

  #send(method: string, message: object | null): Sent {
    const own: Record<string, string> = {};
    if (this.#session !== null) own['mcp-session-id'] = this.#session;
    if (this.#modern) {
      own['mcp-protocol-version'] = MODERN;
      const { method: called, params } = message as { method: string; params: { name?: string } }; // made above
      own['mcp-method'] = called;
      if (params.name !== undefined) own['mcp-name'] = params.name;
    }
    const headers = { ...MCP_HEADERS, ...own };
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const outgoing: ClientRequest = httpRequest(
      {
        host: '127.0.0.1',
        port: this.#setting.port(),
        path: this.#setting.path ?? '/mcp',
        method,
        headers,
        agent: this.#agent,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => resolve({ kind: 'closed' }));
        response.on('end', () => {
          const { statusCode: status = 0, headers: told } = response;
          resolve({ kind: 'answer', status, headers: told, body: Buffer.concat(chunks).toString() });
        });
      },
    );
    outgoing.on('error', () => resolve({ kind: 'closed' }));
    outgoing.end(message === null ? undefined : JSON.stringify({ jsonrpc: '2.0', ...message }));
    return { outcome: promise, leave: () => outgoing.destroy() };
  }

  async #awaited(sent: Sent, what: string): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const timer = setTimeout(() => {
      this.#setting.violations.push(`${this.name}: no end of ${what}`);
      sent.leave();
      resolve({ kind: 'closed' });
    }, LOST_MS);
    void sent.outcome.then(resolve);
    const outcome = await promise;
    clearTimeout(timer);
    return outcome;
  }

  #check(outcome: Outcome, { id, tag }: { readonly id: string | number | null; readonly tag: string | null }): void {
    const { counts, violations } = this.#setting;
    const count = outcome.kind === 'closed' ? 'closed' : String(outcome.status);
    counts.set(count, (counts.get(count) ?? 0) + 1);
    if (outcome.kind === 'closed') return;
    if (outcome.status === 404) this.#session = null;
    const wrong = wrongWith(outcome, { id, tag, client: this.name });
    if (wrong !== null)
      violations.push(`${this.name} ${id ?? 'stream'}: ${wrong}: ${outcome.status} ${outcome.body.slice(-500)}`);
  }

  #id(): string | number {
    this.#next += 1;
    return this.#random() < 0.5 ? this.#next : `s${this.#next}`;
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)];
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }
}

interface Expected {
  readonly id: string | number | null;
  readonly tag: string | null;
  readonly client: string;
}

/** Null for an answer as it has to be: one, last, under the id of the request, with its tag, and nothing of others. */
function wrongWith(
  { status, headers, body }: Outcome & { readonly kind: 'answer' },
  { id, tag, client }: Expected,
): string | null {
  const messages = messagesIn(headers['content-type'] ?? '', body);
  for (const message of messages) if (!isFor(message, client)) return 'it is for somebody else';
  const answers = messages.filter(({ method }) => method === undefined);
  if (answers.length > 1) return 'there are several answers';
  const [answer] = answers;
  if (status === 200 && id !== null && answer === undefined) return 'there is no answer';
  if (answer === undefined) return null;
  if (answer !== messages.at(-1)) return 'something comes after the answer';
  if (status === 200 ? answer.id !== id : answer.id !== id && answer.id !== null) return 'it has another id';
  const content = answer.result?.['content'] as readonly { readonly text?: string }[] | undefined; // of the servers here
  return tag !== null && content !== undefined && content[0]?.text?.includes(tag) !== true
    ? 'it has another tag'
    : null;
}

/** Whatever is said of a client names it, with a slash behind. */
function isFor(message: Message, client: string): boolean {
  return [...JSON.stringify(message).matchAll(/\b([cn]\d+)\//g)].every(([, named]) => named === client);
}

function messagesIn(type: string, body: string): readonly Message[] {
  // `as`: of a gateway that writes JSON-RPC.
  if (type.startsWith('application/json')) return [JSON.parse(body) as Message];
  if (!type.startsWith('text/event-stream')) return [];
  const lines = body.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Message);
}
