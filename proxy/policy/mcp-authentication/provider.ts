import { createHash } from 'node:crypto';

import { messageOf } from '../../../src/shared/errors.ts';
import type { Log } from '../../../src/shared/log.ts';
import type { Clock } from '../../exchange/wait.ts';
import { AnswerTooLarge, callDirectly, type DirectAnswer, type DirectCall } from '../../services/direct-call.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import { readMetadata, type ServerMetadata } from './metadata.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
/** Clients ask a few times while they log in; what a provider changes is seen soon. */
const FRESH_MS = 60_000;
/** A provider that has just failed is left alone for so long, where there is something to answer with. */
const RETRY_MS = 5000;

/** Why a provider gave no usable answer. */
export class ProviderError extends Error {
  readonly late: boolean;

  constructor(message: string, options: { readonly late: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'ProviderError';
    this.late = options.late;
  }
}

/** What is known of a provider, kept for a short time; one per data thread and address. */
export class ProviderMetadata {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #log: Log;
  #known: ServerMetadata | null = null;
  #askAgainAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<ServerMetadata> | null = null;

  constructor(url: string, deps: { readonly clock: Clock; readonly log: Log }) {
    this.#url = url;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** What is known and fresh enough; null when the provider has to be asked. */
  get current(): ServerMetadata | null {
    return this.#clock.now() < this.#askAgainAt ? this.#known : null;
  }

  /** Asks the provider, once for all who wait. What was known before stays in use when it fails; else a `ProviderError`. */
  ask(headers: Readonly<Record<string, string>>, trace: Recorder | null): Promise<ServerMetadata> {
    this.#asking ??= this.#ask(headers, trace).finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(headers: Readonly<Record<string, string>>, trace: Recorder | null): Promise<ServerMetadata> {
    try {
      const known = await this.#fetch(headers, trace);
      this.#known = known;
      this.#askAgainAt = this.#clock.now() + FRESH_MS;
      return known;
    } catch (error) {
      const stale = this.#known;
      const kept = stale === null ? '' : ', those that are there stay in use';
      const fields = { url: this.#url, error: messageOf(error) };
      this.#log.warn(`the metadata of the authorization server could not be fetched${kept}`, fields);
      if (stale === null) throw error;
      this.#askAgainAt = this.#clock.now() + RETRY_MS;
      return stale;
    }
  }

  async #fetch(headers: Readonly<Record<string, string>>, trace: Recorder | null): Promise<ServerMetadata> {
    const call = { method: 'GET', url: this.#url, headers: { accept: 'application/json', ...headers } };
    const { status, text } = await callProvider(call, { trace, signal: null });
    if (status !== 200) throw new ProviderError(`the provider answered with status ${status}`, { late: false });
    const read = readMetadata(text);
    if (typeof read === 'string') throw new ProviderError(`the metadata cannot be used: ${read}`, { late: false });
    return read;
  }
}

/** One call, its answer read whole. Throws a `ProviderError` that holds nothing of what the provider sent. */
export async function callProvider(
  call: Omit<DirectCall, 'maxBytes' | 'signal'>,
  { trace, signal }: { readonly trace: Recorder | null; readonly signal: AbortSignal | null },
): Promise<DirectAnswer> {
  const start = trace?.now() ?? null;
  trace?.emit({ type: 'backendCallStart', target: new URL(call.url).host });
  try {
    const answered = await bounded(call, signal);
    trace?.emit({ type: 'backendCallResult', status: answered.status, error: null }, 'info', start);
    return answered;
  } catch (error) {
    trace?.emit({ type: 'backendCallResult', status: null, error: messageOf(error) }, 'error', start);
    throw error;
  }
}

async function bounded(
  call: Omit<DirectCall, 'maxBytes' | 'signal'>,
  given: AbortSignal | null,
): Promise<DirectAnswer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = given === null ? timeout : AbortSignal.any([given, timeout]);
  const headers = { 'user-agent': 'gwctl', ...call.headers };
  try {
    return await callDirectly({ ...call, headers, maxBytes: MAX_BYTES, signal });
  } catch (error) {
    throw new ProviderError(wordsFor(error, timeout.aborted), { late: timeout.aborted, cause: error });
  }
}

function wordsFor(error: unknown, late: boolean): string {
  if (late) return `the provider gave no whole answer within ${TIMEOUT_MS / 1000} s`;
  if (error instanceof AnswerTooLarge) return `the answer of the provider is larger than ${MAX_BYTES / 1024} KiB`;
  return `the provider cannot be reached: ${messageOf(error) || 'the connection failed'}`;
}

/**
 * Notices an issuer whose address leads back to this gateway (RFC 8586): calls carry a mark of where they go, and a
 * request that has it already is not followed.
 */
export class LoopGuard {
  readonly #mark: string;

  constructor(url: string) {
    this.#mark = `gwctl;to=${createHash('sha256').update(url).digest('hex').slice(0, 16)}`;
  }

  /** The header of a call on behalf of a request; null when the call would come back for ever. */
  mark(seen: readonly string[]): Readonly<Record<string, string>> | null {
    const before = seen.join(', ');
    if (before.split(',').some((one) => one.trim() === this.#mark)) return null;
    return { 'cdn-loop': before === '' ? this.#mark : `${before}, ${this.#mark}` };
  }
}
