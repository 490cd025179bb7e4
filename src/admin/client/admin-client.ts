import { setTimeout as sleep } from 'node:timers/promises';

import type { Dispatcher } from 'undici';
import { GwError, messageOf } from '../../shared/errors.ts';
import { asObject, asText, isObject, type JsonObject } from '../protocol/lenient.ts';
import { decodeExplanation } from '../protocol/decode-explanation.ts';
import type { ExplainQuestion, Explanation } from '../protocol/explanation.ts';
import { formatAddress, hostInUrl, type AdminAddress } from './address.ts';
import { InterruptedError, NotLiveError, ProtocolError, StatusError, TimeoutError, transportError } from './errors.ts';
import { TraceStream } from './trace-stream.ts';

export interface AdminClientOptions {
  /** How long one answer may take, milliseconds. */
  readonly timeoutMs: number;
  /** Aborting ends whatever is under way with `GW_INTERRUPTED`. */
  readonly signal?: AbortSignal | undefined;
  /** Called once when a proxy has no live configuration yet: it is waited for. Without it, that is a failure at once. */
  readonly onWait?: ((error: NotLiveError) => void) | undefined;
}

export interface ProfileOptions {
  readonly seconds?: number | undefined;
  readonly frequencyHz?: number | undefined;
  /** Bytes received so far; called for every piece. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

export interface LoggingChange {
  readonly level?: string | undefined;
  readonly reset?: boolean | undefined;
  /** Milliseconds until the proxy goes back by itself; without it the change stays. */
  readonly forMs?: number | undefined;
}

export interface TraceOptions {
  readonly expression?: string | undefined;
  readonly follow?: boolean | undefined;
}

interface CallOptions {
  readonly body?: string | undefined;
  readonly method?: 'GET' | 'POST' | undefined;
  readonly timeoutMs?: number | undefined;
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

interface Answer {
  readonly contentType: string;
  readonly body: Buffer;
}

const MAX_ANSWER_BYTES = 512 * 1024 * 1024;
const MAX_ERROR_TEXT = 4096;
/** Between two questions whether a configuration is live. */
const LIVE_INTERVAL_MS = 250;

/** Speaks the admin protocol to one proxy, over TCP or a unix socket. Close it when done. */
export class AdminClient {
  readonly address: AdminAddress;
  readonly #options: AdminClientOptions;
  #dispatcher: Dispatcher | undefined;

  constructor(address: AdminAddress, options: AdminClientOptions) {
    this.address = address;
    this.#options = options;
  }

  /** The parsed `/config_dump`, not yet decoded. */
  async dump(): Promise<unknown> {
    return this.#live(() => this.#json('/config_dump'));
  }

  /** Which configuration is live and which was rejected last. */
  async status(): Promise<JsonObject> {
    return this.#object('/config_status');
  }

  async memory(): Promise<JsonObject> {
    return this.#object('/memory');
  }

  /** Runtime name to one text for each task. */
  async tasks(): Promise<JsonObject> {
    return this.#object('/debug/tasks');
  }

  /**
   * Reads the log filter, or changes it: `level` is appended, after going back to the start-up filter with `reset`, and all
   * of it is undone after `forMs`.
   */
  async logging(change: LoggingChange = {}): Promise<string> {
    const query = [
      change.reset === true ? 'reset' : '',
      change.level === undefined ? '' : `level=${encodeURIComponent(change.level)}`,
      change.forMs === undefined ? '' : `for=${change.forMs}ms`,
    ];
    const suffix = query.filter(Boolean).join('&');
    const answer = await this.#call(`/logging${suffix === '' ? '' : `?${suffix}`}`, { method: 'POST' });
    return answer.body.toString('utf8');
  }

  /** What the proxy would do with a request. */
  async explain(question: ExplainQuestion): Promise<Explanation> {
    const body = JSON.stringify(question);
    const raw = await this.#live(() => this.#json('/debug/explain', { method: 'POST', body }));
    const explanation = decodeExplanation(raw);
    if (explanation === undefined) throw this.#otherProtocol('to /debug/explain with something else');
    return explanation;
  }

  /** Asks the proxy to drain and stop. */
  async quit(): Promise<string> {
    return (await this.#call('/quitquitquit', { method: 'POST' })).body.toString('utf8');
  }

  /** The bytes of a pprof profile. */
  async profile(kind: 'cpu' | 'heap', options: ProfileOptions = {}): Promise<Uint8Array> {
    const query = new URLSearchParams();
    if (kind === 'cpu' && options.seconds !== undefined) query.set('seconds', String(options.seconds));
    if (kind === 'cpu' && options.frequencyHz !== undefined) query.set('frequency', String(options.frequencyHz));
    const path = kind === 'cpu' ? '/debug/pprof/profile' : '/debug/pprof/heap';
    const samplingMs = kind === 'cpu' ? (options.seconds ?? 10) * 1000 : 20_000;
    const answer = await this.#call(query.size === 0 ? path : `${path}?${query.toString()}`, {
      timeoutMs: samplingMs + this.#options.timeoutMs,
      onBytes: options.onBytes,
    });
    if (/text\/html/i.test(answer.contentType)) throw this.#otherProtocol('with HTML');
    return answer.body;
  }

  /** Registers a watcher; resolves once the server has it, so that a request sent after is not missed. */
  async trace(options: TraceOptions = {}): Promise<TraceStream> {
    const query = new URLSearchParams();
    if (options.expression !== undefined) query.set('expression', options.expression);
    if (options.follow === true) query.set('follow', 'true');
    const path = query.size === 0 ? '/debug/trace' : `/debug/trace?${query.toString()}`;
    const abort = new AbortController();
    const signal =
      this.#options.signal === undefined ? abort.signal : AbortSignal.any([abort.signal, this.#options.signal]);
    const headersLimit = setTimeout(() => abort.abort(this.#timedOut()), this.#options.timeoutMs);
    try {
      const answer = await this.#send(path, { method: 'POST', headers: { accept: 'text/event-stream' }, signal });
      clearTimeout(headersLimit);
      if (answer.statusCode !== 200) throw await this.#refusal('/debug/trace', answer);
      const type = String(answer.headers['content-type'] ?? '');
      if (!/text\/event-stream|json/i.test(type)) {
        answer.body.destroy();
        throw this.#otherProtocol(`to /debug/trace with ${type === '' ? 'no content type' : type}`);
      }
      return new TraceStream(answer.body, { where: formatAddress(this.address), abort });
    } catch (error) {
      throw this.#explain(error, abort.signal);
    } finally {
      clearTimeout(headersLimit);
    }
  }

  /** Drops every connection of this client. */
  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
    this.#dispatcher = undefined;
  }

  /** Asks again until a configuration is live, for as long as one answer may take. */
  async #live<T>(ask: () => Promise<T>): Promise<T> {
    const { onWait, signal, timeoutMs } = this.#options;
    const giveUpAt = performance.now() + timeoutMs;
    for (let asked = 1; ; asked++) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof StatusError) || error.status !== 503 || !error.passing) throw error;
        const notLive = new NotLiveError(formatAddress(this.address), error);
        if (onWait === undefined || performance.now() + LIVE_INTERVAL_MS > giveUpAt) throw notLive;
        if (asked === 1) onWait(notLive);
        await pause(LIVE_INTERVAL_MS, signal);
      }
    }
  }

  async #object(path: string): Promise<JsonObject> {
    const value = await this.#json(path);
    if (!isObject(value)) throw this.#otherProtocol(`to ${path} with JSON that is not an object`);
    return value;
  }

  async #json(path: string, options: CallOptions = {}): Promise<unknown> {
    const answer = await this.#call(path, options);
    const text = answer.body.toString('utf8');
    try {
      return JSON.parse(text);
    } catch (error) {
      const what = /text\/html/i.test(answer.contentType)
        ? 'with HTML'
        : `with something that is not JSON (${messageOf(error)})`;
      throw this.#otherProtocol(`to ${path} ${what}`);
    }
  }

  async #call(path: string, options: CallOptions): Promise<Answer> {
    const limit = AbortSignal.timeout(options.timeoutMs ?? this.#options.timeoutMs);
    const signal = this.#options.signal === undefined ? limit : AbortSignal.any([limit, this.#options.signal]);
    try {
      const { method = 'GET', body: sent } = options;
      const answer = await this.#send(path, { method, signal, ...(sent === undefined ? {} : { body: sent }) });
      if (answer.statusCode !== 200) throw await this.#refusal(path.replace(/\?.*$/s, ''), answer);
      const body = await collect(answer.body, options.onBytes);
      return { contentType: String(answer.headers['content-type'] ?? ''), body };
    } catch (error) {
      throw this.#explain(error, limit);
    }
  }

  async #send(
    path: string,
    options: {
      readonly method: 'GET' | 'POST';
      readonly headers?: Record<string, string>;
      readonly body?: string;
      readonly signal: AbortSignal;
    },
  ): Promise<Dispatcher.ResponseData> {
    this.#options.signal?.throwIfAborted();
    this.#dispatcher ??= await connectTo(this.address);
    const answer = await this.#dispatcher.request({ ...options, path, headersTimeout: 0, bodyTimeout: 0 });
    // Whoever reads the body meets its error there; a body that nobody reads must not end the process.
    answer.body.on('error', () => {});
    return answer;
  }

  async #refusal(path: string, answer: Dispatcher.ResponseData): Promise<GwError> {
    const body = await errorText(answer.body);
    if (answer.statusCode === 404 && path !== '/debug/pprof/profile') {
      return new ProtocolError(
        `${formatAddress(this.address)} has no ${path}: this is no admin interface, or one of another version`,
      );
    }
    const passing = answer.headers['retry-after'] !== undefined;
    return new StatusError(path, { status: answer.statusCode, statusText: answer.statusText ?? '', body, passing });
  }

  #otherProtocol(what: string): ProtocolError {
    return new ProtocolError(`${formatAddress(this.address)} answers ${what}: this is no admin interface`);
  }

  #timedOut(): TimeoutError {
    return new TimeoutError(`${formatAddress(this.address)} did not answer in time`, 'a longer --timeout');
  }

  #explain(thrown: unknown, limit: AbortSignal): GwError {
    if (this.#options.signal?.aborted === true) return interruption(this.#options.signal);
    if (thrown instanceof GwError) return thrown;
    if (limit.aborted) return limit.reason instanceof GwError ? limit.reason : this.#timedOut();
    return transportError(thrown, this.address);
  }
}

/** Rejects with what interrupts it. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal === undefined ? error : interruption(signal);
  }
}

function interruption(signal: AbortSignal): GwError {
  return signal.reason instanceof GwError ? signal.reason : new InterruptedError();
}

/** undici takes longer to load than most commands to run, so it comes in with the first request. */
async function connectTo(address: AdminAddress): Promise<Dispatcher> {
  const { Client } = await import('undici');
  const timeouts = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1 };
  if (address.kind === 'unix') return new Client('http://localhost', { ...timeouts, socketPath: address.path });
  return new Client(`http://${hostInUrl(address.host)}:${address.port}`, timeouts);
}

async function collect(body: AsyncIterable<unknown>, onBytes?: (bytes: number) => void): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    // undici bodies deliver buffers.
    const piece = part as Buffer;
    bytes += piece.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new ProtocolError('the answer is larger than 512 MiB');
    parts.push(piece);
    onBytes?.(bytes);
  }
  return Buffer.concat(parts);
}

/** The beginning of an error body: JSON messages unwrapped, HTML left out. */
async function errorText(body: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  try {
    // undici bodies deliver buffers.
    for await (const part of body) {
      text += (part as Buffer).toString('utf8');
      if (text.length > MAX_ERROR_TEXT) break;
    }
  } catch {
    // What came before the connection broke is all there is to show.
  }
  if (/^\s*</.test(text)) return '';
  try {
    const parsed: unknown = JSON.parse(text);
    const { message, error } = asObject(parsed);
    return asText(message) ?? asText(error) ?? text;
  } catch {
    return text.slice(0, MAX_ERROR_TEXT);
  }
}
