import { GwError } from '../../src/shared/errors.ts';
import { ANY } from '../supervisor/trace-gate.ts';
import { text, type Endpoint, type EndpointRequest, type EndpointReply, type ReplyStream } from './endpoint.ts';
import { badParameter } from './router.ts';
import type { FilterMoment } from '../telemetry/trace-filters.ts';
import type { TraceHub, TraceWatcher } from './trace-hub.ts';

const MAX_QUEUED_EVENTS = 10_000;
const MAX_QUEUED_BYTES = 16 * 2 ** 20;
const KEEPALIVE_MS = 1000;
const MAX_COUNT = 1_000_000;
const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

/** Throws a `GwError` for an expression that requests cannot be filtered with. */
export type CheckFilter = (expression: string) => Promise<FilterMoment>;

/** `/debug/trace`: the next request, the next `count`, or every one, as server-sent events. */
export function traceEndpoint(hub: TraceHub, checkFilter: CheckFilter): Endpoint {
  return {
    path: '/debug/trace',
    methods: ['GET', 'POST'],
    guarded: ['GET', 'POST'],
    summary: 'Trace of the next request, event by event (server-sent events)',
    parameters:
      'follow=true keeps going; count=N ends after N requests; expression=CEL takes only requests for which it is true',
    handle: (request) => open(hub, checkFilter, request),
  };
}

interface Watch {
  readonly follow: boolean;
  readonly count: number;
  readonly filter: number;
}

async function open(hub: TraceHub, check: CheckFilter, { query, signal }: EndpointRequest): Promise<EndpointReply> {
  const follow = flag(query, 'follow');
  const count = countOf(query) ?? (follow ? Number.POSITIVE_INFINITY : 1);
  const filter = await filterOf(hub, check, { expression: query.get('expression') ?? '', follow });
  const watcher = new StreamWatcher();
  // Registered before the head goes out: a refusal can still have a status.
  const leave = filter === undefined || signal.aborted ? undefined : watch(hub, watcher, { follow, count, filter });
  if (leave === undefined) {
    if (filter !== undefined) hub.dropFilter(filter);
    return text(503, 'too many trace watchers are waiting\n');
  }
  const leaveAll = (): void => {
    leave();
    hub.dropFilter(filter ?? ANY);
  };
  return { kind: 'stream', headers: HEADERS, start: (stream) => watcher.attach(stream, leaveAll) };
}

/** The number of a filter that all data threads know; undefined when there are too many. */
async function filterOf(
  hub: TraceHub,
  check: CheckFilter,
  { expression, follow }: { readonly expression: string; readonly follow: boolean },
): Promise<number | undefined> {
  if (expression === '') return ANY;
  let moment: FilterMoment;
  try {
    moment = await check(expression);
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    const { message, hint } = error;
    throw badParameter(`invalid expression: ${message}${hint === undefined ? '' : `: ${hint}`}`);
  }
  return hub.addFilter({ expression, moment, follow });
}

function watch(hub: TraceHub, watcher: StreamWatcher, { follow, count, filter }: Watch): (() => void) | undefined {
  if (!follow) return watchSeveral(hub, watcher, { count, filter });
  watcher.limit = count;
  return hub.follow(watcher, filter);
}

/** One request after the other: each is a watcher of its own. */
function watchSeveral(
  hub: TraceHub,
  target: StreamWatcher,
  { count, filter }: Omit<Watch, 'follow'>,
): (() => void) | undefined {
  let left = count;
  let leave: (() => void) | undefined;
  const watcher: TraceWatcher = {
    event: (json) => target.event(json),
    lost: (lost) => target.lost(lost),
    ended: () => {
      left -= 1;
      leave = left > 0 ? hub.watchOne(watcher, filter) : undefined;
      if (leave === undefined) target.ended();
    },
  };
  leave = hub.watchOne(watcher, filter);
  return leave === undefined ? undefined : () => leave?.();
}

/** One reader's queue: what a slow reader cannot take is dropped, and one event tells how much. */
class StreamWatcher implements TraceWatcher {
  /** Requests after which a followed stream ends. */
  limit = Number.POSITIVE_INFINITY;
  #stream: ReplyStream | null = null;
  #leave: () => void = () => {};
  #queue: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #full = false;
  #done = false;
  #idle = false;
  #finished = 0;
  #timer: NodeJS.Timeout | null = null;

  attach(stream: ReplyStream, leave: () => void): void {
    this.#stream = stream;
    this.#leave = leave;
    stream.onClose(() => this.#detach());
    stream.onDrain(() => {
      this.#full = false;
      this.#pump();
    });
    this.#timer = setInterval(() => this.#keepAlive(), KEEPALIVE_MS).unref();
    this.#write(': ready\n\n');
    this.#pump();
  }

  event(json: string): void {
    if (this.#done) return;
    this.#push(`data: ${json}\n\n`);
    if (this.limit !== Number.POSITIVE_INFINITY && isFinish(json)) {
      this.#finished += 1;
      if (this.#finished >= this.limit) this.ended();
    }
  }

  lost(count: number): void {
    this.#dropped += count;
    this.#pump();
  }

  ended(): void {
    this.#done = true;
    this.#leave();
    this.#pump();
  }

  #push(chunk: string): void {
    if (this.#queue.length >= MAX_QUEUED_EVENTS || this.#bytes + chunk.length > MAX_QUEUED_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#queue.push(chunk);
    this.#bytes += chunk.length;
    this.#pump();
  }

  #pump(): void {
    if (this.#stream === null) return;
    if (!this.#full && this.#queue.length > 0) {
      const waiting = this.#queue;
      this.#queue = [];
      this.#bytes = 0;
      this.#write(waiting.join(''));
    }
    if (this.#queue.length > 0) return;
    // What was lost was lost behind everything that was queued.
    if (this.#dropped > 0 && !this.#full) this.#write(this.#marker());
    if (this.#done && this.#dropped === 0) {
      this.#stream.end();
      this.#detach();
    }
  }

  #marker(): string {
    const message = { type: 'dropped', count: this.#dropped };
    this.#dropped = 0;
    return `data: ${JSON.stringify({ eventStart: null, eventEnd: 0, severity: 'warn', message })}\n\n`;
  }

  #write(chunk: string): void {
    this.#idle = false;
    if (this.#stream?.write(chunk) === false) this.#full = true;
  }

  #keepAlive(): void {
    if (this.#idle && !this.#full) this.#write(': keepalive\n\n');
    this.#idle = true;
  }

  #detach(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#done = true;
    this.#stream = null;
    this.#queue = [];
    this.#leave();
    this.#leave = () => {};
  }
}

/** The top-level end of a request, as the data threads write it; nested calls have a scope. */
function isFinish(json: string): boolean {
  return json.includes('"message":{"type":"requestFinished"') && !json.includes('"scope":[');
}

function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null || value === 'false') return false;
  if (value === 'true' || value === '') return true;
  throw badParameter(`${name} is true or false`);
}

function countOf(query: URLSearchParams): number | undefined {
  const value = query.get('count');
  if (value === null) return undefined;
  const count = /^\d{1,7}$/.test(value) ? Number(value) : 0;
  if (count < 1 || count > MAX_COUNT) throw badParameter(`count is a number from 1 to ${MAX_COUNT}`);
  return count;
}
