import { Headers } from './headers.ts';

/**
 * Response headers that request policies decide on before there is a response (CORS, rate limits, external services).
 * They are merged into whatever response is produced, after every response policy.
 */
export class QueuedHeaders {
  readonly #overwriting = new Headers();
  readonly #defaults = new Headers();

  /** Replaces the response's fields of that name; every value queued for a name is kept. */
  add(name: string, value: string): void {
    this.#overwriting.append(name, value);
  }

  /** Only when neither the response nor an earlier policy has that name. */
  addDefault(name: string, value: string): void {
    if (!this.#defaults.has(name)) this.#defaults.append(name, value);
  }

  has(name: string): boolean {
    return this.#overwriting.has(name) || this.#defaults.has(name);
  }

  mergeInto(headers: Headers): void {
    for (const [name, value] of this.#defaults) if (!headers.has(name)) headers.append(name, value);
    for (const name of new Set(this.#overwriting.names)) headers.remove(name);
    for (const [name, value] of this.#overwriting) headers.append(name, value);
  }
}
