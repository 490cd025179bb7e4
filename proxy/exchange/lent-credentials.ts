import type { HttpRequest } from './message.ts';

type Carrier = Pick<HttpRequest, 'headers' | 'target'>;

/**
 * Credentials of the gateway that a request carries towards its backend. They are hidden wherever the request is shown,
 * and taken off when the backend has answered, so that nothing that comes later can read them.
 */
export class LentCredentials {
  /** Values that the headers had before, by lower-case name. */
  readonly #headers = new Map<string, readonly string[]>();
  readonly #parameters = new Set<string>();
  #target: string | null = null;

  hidesHeader(lowerCaseName: string): boolean {
    return this.#headers.has(lowerCaseName);
  }

  /** Names of query parameters. */
  get parameters(): ReadonlySet<string> {
    return this.#parameters;
  }

  /** Called before a header is written. */
  lendHeader(request: Carrier, lowerCaseName: string): void {
    if (!this.#headers.has(lowerCaseName)) this.#headers.set(lowerCaseName, request.headers.getAll(lowerCaseName));
  }

  /** Called before a query parameter is written. */
  lendParameter(request: Carrier, name: string): void {
    this.#target ??= request.target;
    this.#parameters.add(name);
  }

  withdraw(request: Carrier): void {
    for (const [name, before] of this.#headers) {
      request.headers.remove(name);
      for (const value of before) request.headers.append(name, value);
    }
    if (this.#target !== null) request.target = this.#target;
    this.#headers.clear();
    this.#parameters.clear();
    this.#target = null;
  }
}
