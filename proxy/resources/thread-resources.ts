import type { Discovery } from '../../src/config/documents/discovery.ts';
import type {
  PublicJwk,
  RemoteDiscovery,
  RemoteDocument,
  RemoteKeySet,
  RemoteOpenApi,
} from '../../src/config/ir/index.ts';
import type { JsonObject } from '../../src/shared/json.ts';
import { keyOf, readContent, type Read, type ResourceContent } from './content.ts';
import type { Live, Resources, Watched } from './contract.ts';

/** After this long a request that waits for a fetch goes on with what is there. */
const WAIT_MS = 5000;
/** Least time between two questions to the control thread, which has the last word. */
const ASK_MS = 1000;

/** Asks the control thread to fetch a document again; may reject. */
export type AskRefetch = (key: string, timeoutMs: number) => Promise<unknown>;

interface Arrived {
  readonly read: Read;
  readonly version: number;
}

interface Asked {
  /** Of `performance.now()`. */
  readonly at: number;
  readonly answer: Promise<void>;
  done: boolean;
}

/** Fetched documents in one data thread: handed in by the control thread, read by policies. */
export class ThreadResources implements Resources {
  readonly #ask: AskRefetch | null;
  readonly #arrived = new Map<string, Arrived>();
  readonly #asked = new Map<string, Asked>();
  readonly #watchers = new Map<string, Set<() => void>>();
  #generation = 0;

  /** Without `ask` nothing is ever fetched: documents that were not handed in are empty. */
  constructor(ask: AskRefetch | null = null) {
    this.#ask = ask;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Takes contents in; older ones than those that are there are ignored. */
  update(contents: readonly ResourceContent[]): void {
    const changed: string[] = [];
    for (const { key, document, text, version } of contents) {
      if (version <= (this.#arrived.get(key)?.version ?? 0)) continue;
      const read = readContent(document, text);
      // The control thread has read it too; a defect must not take the content away that is there.
      if (typeof read === 'string') continue;
      this.#arrived.set(key, { read, version });
      this.#generation += 1;
      changed.push(key);
    }
    for (const key of changed) for (const tell of this.#watchers.get(key) ?? []) tell();
  }

  /** Forgets every other document. */
  retainOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#arrived.keys()) if (!keys.has(key)) this.#arrived.delete(key);
    for (const key of this.#asked.keys()) if (!keys.has(key)) this.#asked.delete(key);
  }

  keySet(document: RemoteKeySet): Live<readonly PublicJwk[]> {
    return this.#live(document, (read) => (read.kind === 'keySet' ? read.keys : null));
  }

  discovery(document: RemoteDiscovery): Live<Discovery> {
    return this.#live(document, (read) => (read.kind === 'discovery' ? read.discovery : null));
  }

  openApi(document: RemoteOpenApi): Watched<JsonObject> {
    const live = this.#live(document, (read) => (read.kind === 'openApi' ? read.openApi : null));
    const watch = (changed: () => void): (() => void) => this.#watch(keyOf(document), changed);
    // Not spread: what it says is read each time.
    return Object.assign(live, { watch });
  }

  #watch(key: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(key) ?? new Set<() => void>();
    this.#watchers.set(key, watchers.add(changed));
    return () => {
      if (watchers.delete(changed) && watchers.size === 0) this.#watchers.delete(key);
    };
  }

  #live<T>(document: RemoteDocument, pick: (read: Read) => T | null): Live<T> {
    const key = keyOf(document);
    const arrived = this.#arrived;
    return {
      get current() {
        const found = arrived.get(key);
        return found === undefined ? null : pick(found.read);
      },
      get version() {
        return arrived.get(key)?.version ?? 0;
      },
      refetch: () => this.#refetch(key),
    };
  }

  /** Questions of one thread share an answer, so that a flood of them costs the channel nothing. */
  #refetch(key: string): Promise<void> {
    if (this.#ask === null) return Promise.resolve();
    const last = this.#asked.get(key);
    const now = performance.now();
    if (last !== undefined && (!last.done || now - last.at < ASK_MS)) return last.answer;
    const asked: Asked = { at: now, answer: this.#askOnce(key, this.#ask), done: false };
    this.#asked.set(key, asked);
    void asked.answer.then(() => (asked.done = true));
    return asked.answer;
  }

  async #askOnce(key: string, ask: AskRefetch): Promise<void> {
    // Nobody is helped by the reason: what is there stays in use.
    await ask(key, WAIT_MS).catch(() => null);
  }
}
