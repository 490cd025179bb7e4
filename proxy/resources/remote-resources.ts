import { jwksUriOf } from '../../src/config/documents/discovery.ts';
import { shownUrl } from '../../src/config/documents/http-url.ts';
import type { GatewayConfig, RemoteDocument, RemoteKeySet } from '../../src/config/ir/index.ts';
import { messageOf } from '../../src/shared/errors.ts';
import type { Log } from '../../src/shared/log.ts';
import { systemClock, type Clock } from '../exchange/wait.ts';
import { readOpenApi } from '../../src/config/documents/open-api-text.ts';
import {
  isOptional,
  keyOf,
  ledTo,
  nameOf,
  readContent,
  remoteDocuments,
  type Read,
  type ResourceContent,
} from './content.ts';
import { fetchDocument, type FetchDocument, type Fetched } from './fetch-document.ts';
import { ResourceFetchError } from './fetch-error.ts';

const RETRY_MS = 15_000;
/** After the first failure of what is not there yet; then twice as long each time. */
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** Least time between two fetches of one document that data threads ask for. */
const DEMAND_MS = 10_000;

export interface RemoteResourcesOptions {
  readonly fetch: FetchDocument;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly log: Log;
  /** Hands changed contents to every data thread. */
  readonly publish: (contents: readonly ResourceContent[]) => void;
}

/** One document and when it is fetched next. */
interface Held {
  readonly key: string;
  readonly document: RemoteDocument;
  text: string;
  read: Read;
  version: number;
  etag: string | undefined;
  /** Takes the next scheduled refresh back. */
  unschedule: () => void;
  refreshing: Promise<void> | null;
  /** On the clock's scale; when a data thread last made it be fetched. */
  demandedAt: number;
}

/** One that the configuration is live without, and when it is asked for again. */
interface Missing {
  readonly document: RemoteDocument;
  failures: number;
  unschedule: () => void;
}

/** What the control thread fetches for the data threads, and keeps fresh. */
export class RemoteResources {
  readonly #options: RemoteResourcesOptions;
  readonly #held = new Map<string, Held>();
  /** First fetches under way, so that one document is fetched once. */
  readonly #loading = new Map<string, Promise<Held>>();
  readonly #missing = new Map<string, Missing>();
  readonly #stop = new AbortController();
  #versions = 0;

  constructor(options: RemoteResourcesOptions) {
    this.#options = options;
  }

  /** With the system's clock, over the network. */
  static open(log: Log, publish: RemoteResourcesOptions['publish']): RemoteResources {
    return new RemoteResources({ fetch: fetchDocument, clock: systemClock, random: Math.random, log, publish });
  }

  /**
   * Fetches what the configuration refers to and is not there yet, or what of it is needed. Throws a `ResourceFetchError` that
   * names all that failed; what the configuration can do without is asked for again until it comes.
   */
  async load(config: GatewayConfig, needed: (document: RemoteDocument) => boolean = () => true): Promise<void> {
    const wanted = [...remoteDocuments(config).values()].filter(needed);
    const settled = await Promise.all(
      wanted.map(async (document) => {
        const problem = await this.#whole(document).then(() => null, messageOf);
        return problem === null ? [] : [{ document, problem }];
      }),
    );
    const failures = settled.flat();
    const fatal = failures.filter(({ document }) => !isOptional(document));
    if (fatal.length > 0) throw new ResourceFetchError(fatal);
    for (const { document, problem } of failures) this.#miss(document, problem);
  }

  /** The contents that a loaded configuration needs, as they are now. */
  contents(config: GatewayConfig): readonly ResourceContent[] {
    return [...this.#reachable(config)].flatMap((key) => {
      const held = this.#held.get(key);
      return held === undefined ? [] : [contentOf(held)];
    });
  }

  /** Forgets everything that this configuration does not need. */
  retain(config: GatewayConfig): void {
    const reachable = this.#reachable(config);
    for (const [key, held] of this.#held) {
      if (reachable.has(key)) continue;
      this.#held.delete(key);
      held.unschedule();
    }
    for (const [key, missing] of this.#missing) {
      if (reachable.has(key)) continue;
      this.#missing.delete(key);
      missing.unschedule();
    }
  }

  /** A data thread misses something in a document: fetches it again, but not sooner than allowed. Never rejects. */
  async refetch(key: string): Promise<void> {
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (held.refreshing === null) {
      const now = this.#options.clock.now();
      if (now - held.demandedAt < DEMAND_MS) return;
      held.demandedAt = now;
    }
    await this.#refresh(held);
  }

  close(): void {
    this.#stop.abort(new Error('the gateway is shutting down'));
    for (const each of [...this.#held.values(), ...this.#missing.values()]) each.unschedule();
    this.#held.clear();
    this.#missing.clear();
  }

  /** A document with all that it leads to. */
  async #whole(document: RemoteDocument): Promise<void> {
    const held = await this.#first(document);
    await Promise.all(ledTo(held.read).map((next) => this.#whole(next)));
  }

  #first(document: RemoteDocument): Promise<Held> {
    const key = keyOf(document);
    const held = this.#held.get(key);
    if (held !== undefined) return Promise.resolve(held);
    const loading = this.#loading.get(key);
    if (loading !== undefined) return loading;
    const first = this.#fetchFirst(key, document).finally(() => this.#loading.delete(key));
    this.#loading.set(key, first);
    return first;
  }

  async #fetchFirst(key: string, document: RemoteDocument): Promise<Held> {
    try {
      const fetched = await this.#fetch(document, undefined);
      if (fetched.kind !== 'text') throw new Error('the server answered without a document');
      const { text, etag, freshMs } = fetched;
      const read = readContent(document, text);
      if (typeof read === 'string') throw new Error(read);
      this.#stop.signal.throwIfAborted();
      const version = (this.#versions += 1);
      const rest = { unschedule: () => {}, refreshing: null, demandedAt: Number.NEGATIVE_INFINITY };
      const held: Held = { key, document, text, read, version, etag, ...rest };
      this.#held.set(key, held);
      this.#schedule(held, freshMs);
      this.#found(held);
      return held;
    } catch (error) {
      throw new Error(`cannot load the ${nameOf(document)} ${shownUrl(document.url)}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Asks again later, for as long as the configuration names it. */
  #miss(document: RemoteDocument, problem: string): void {
    const { clock, log, random } = this.#options;
    const key = keyOf(document);
    const missing = this.#missing.get(key) ?? { document, failures: 0, unschedule: () => {} };
    this.#missing.set(key, missing);
    missing.unschedule();
    const retryInMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** missing.failures) * (0.8 + 0.4 * random());
    missing.failures += 1;
    log.warn('targets are left out until their document comes', { error: problem, retryInMs: Math.round(retryInMs) });
    missing.unschedule = clock.schedule(() => void this.#seek(key, missing), retryInMs);
  }

  async #seek(key: string, missing: Missing): Promise<void> {
    const problem = await this.#whole(missing.document).then(() => null, messageOf);
    if (problem !== null && this.#missing.get(key) === missing) this.#miss(missing.document, problem);
  }

  /** One that is live in the data threads already, though nothing was there to hand to them. */
  #found(held: Held): void {
    const missing = this.#missing.get(held.key);
    if (missing === undefined) return;
    this.#missing.delete(held.key);
    missing.unschedule();
    const { log, publish } = this.#options;
    publish([contentOf(held)]);
    log.info(`the ${nameOf(held.document)} has come and is in use`, { url: shownUrl(held.document.url) });
  }

  async #fetch(document: RemoteDocument, etag: string | undefined): Promise<Fetched> {
    const { url, content } = document;
    const { signal } = this.#stop;
    const fetch = (from: string): Promise<Fetched> => this.#options.fetch(from, { etag, content, signal });
    if (content === 'keySet' && document.metadata !== undefined) return this.#fetchTold(document, fetch);
    const fetched = await fetch(url);
    if (content !== 'openApi' || fetched.kind !== 'text') return fetched;
    return { ...fetched, text: await handedOn(fetched.text) };
  }

  /** Keys from where they usually are, or from where the issuer says. */
  async #fetchTold(document: RemoteKeySet, fetch: (from: string) => Promise<Fetched>): Promise<Fetched> {
    let problem: string;
    try {
      const fetched = await fetch(document.url);
      const read = fetched.kind === 'text' ? readContent(document, fetched.text) : null;
      if (typeof read !== 'string') return fetched;
      problem = read;
    } catch (error) {
      problem = messageOf(error);
    }
    try {
      return await fetch(await this.#toldBy(document));
    } catch (error) {
      throw new Error(`${problem}; by the metadata of its issuer: ${messageOf(error)}`, { cause: error });
    }
  }

  async #toldBy({ metadata }: RemoteKeySet): Promise<string> {
    if (metadata === undefined) throw new Error('it has none');
    const { signal } = this.#stop;
    const told = await this.#options.fetch(metadata.url, { etag: undefined, content: 'discovery', signal });
    if (told.kind !== 'text') throw new Error('it did not answer');
    return jwksUriOf(told.text, metadata.issuer);
  }

  /** One refresh at a time; whoever comes meanwhile waits for the same one. */
  #refresh(held: Held): Promise<void> {
    held.refreshing ??= this.#tryRefresh(held).finally(() => {
      held.refreshing = null;
    });
    return held.refreshing;
  }

  async #tryRefresh(held: Held): Promise<void> {
    const { document, key } = held;
    const { log, random } = this.#options;
    held.unschedule();
    let nextMs: number;
    try {
      nextMs = await this.#update(held);
    } catch (error) {
      if (this.#held.get(key) !== held) return;
      // Replicas that failed together do not come back together.
      nextMs = RETRY_MS * (0.8 + 0.4 * random());
      const fields = { url: shownUrl(document.url), error: messageOf(error), retryInMs: Math.round(nextMs) };
      log.warn(`the ${nameOf(document)} could not be refreshed, the one that is there stays in use`, fields);
    }
    if (this.#held.get(key) === held) this.#schedule(held, nextMs);
  }

  /** Fetches and publishes; gives the time until the next refresh. */
  async #update(held: Held): Promise<number> {
    const { document, key } = held;
    const fetched = await this.#fetch(document, held.etag);
    if (fetched.kind === 'unchanged') return fetched.freshMs;
    const read = readContent(document, fetched.text);
    if (typeof read === 'string') throw new Error(read);
    // What it leads to has to be there before anybody follows it.
    await Promise.all(ledTo(read).map((next) => this.#whole(next)));
    if (this.#held.get(key) !== held) return fetched.freshMs;
    if (ledTo(read).some((next) => !this.#held.has(keyOf(next)))) throw new Error('a reload came between');
    const changed = held.text !== fetched.text;
    held.etag = fetched.etag;
    if (changed) this.#change(held, fetched.text, read);
    return fetched.freshMs;
  }

  #change(held: Held, text: string, read: Read): void {
    held.text = text;
    held.read = read;
    held.version = this.#versions += 1;
    const { log, publish } = this.#options;
    const led = ledTo(read).flatMap((next) => this.#held.get(keyOf(next)) ?? []);
    publish([...led, held].map(contentOf));
    log.info(`the ${nameOf(held.document)} has changed and is in use`, { url: shownUrl(held.document.url) });
  }

  #schedule(held: Held, delayMs: number): void {
    held.unschedule = this.#options.clock.schedule(() => void this.#refresh(held), delayMs);
  }

  /** Keys of what the configuration refers to and of what that leads to. */
  #reachable(config: GatewayConfig): ReadonlySet<string> {
    const keys = new Set<string>(remoteDocuments(config).keys());
    for (const key of keys) {
      const held = this.#held.get(key);
      // The set grows while it is walked, until nothing leads further.
      if (held !== undefined) for (const next of ledTo(held.read)) keys.add(keyOf(next));
    }
    return keys;
  }
}

function contentOf({ key, document, text, version }: Held): ResourceContent {
  return { key, document, text, version };
}

/**
 * As data threads read it: without the library of YAML, which each of them would keep in memory, and only when they can make
 * tools of it, so that a document which has become unfit does not replace one that is fit.
 */
async function handedOn(text: string): Promise<string> {
  const read = readOpenApi(text);
  if (typeof read === 'string') throw new Error(read);
  // Loaded by the first document: most gateways have none.
  const { compileDocument } = await import('../mcp/targets/openapi/document.ts');
  compileDocument(read.document);
  return JSON.stringify(read.document);
}
