import type { HttpRequest } from './message.ts';

type Carrier = Pick<HttpRequest, 'headers' | 'target'>;

interface LentHeader {
  readonly name: string;
  /** The values that it had before. */
  readonly before: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Credentials of the gateway that a request carries towards its backend. They are hidden wherever the request is shown,
 * and taken off when the backend has answered, so that nothing that comes later can read them.
 */
export class LentCredentials {
  /** One or two, as a rule. */
  #headers: LentHeader[] | null = null;
  #parameters: Set<string> | null = null;
  #target: string | null = null;

  hidesHeader(lowerCaseName: string): boolean {
    return this.#headers !== null && this.#headers.some(({ name }) => name === lowerCaseName);
  }

  /** Names of query parameters. */
  get parameters(): ReadonlySet<string> {
    return this.#parameters ?? NONE;
  }

  /** Called before a header is written. */
  lendHeader(request: Carrier, lowerCaseName: string): void {
    if (this.hidesHeader(lowerCaseName)) return;
    const header = { name: lowerCaseName, before: request.headers.getAll(lowerCaseName) };
    if (this.#headers === null) this.#headers = [header];
    else this.#headers.push(header);
  }

  /** Called before a query parameter is written. */
  lendParameter(request: Carrier, name: string): void {
    this.#target ??= request.target;
    (this.#parameters ??= new Set()).add(name);
  }

  withdraw(request: Carrier): void {
    for (const { name, before } of this.#headers ?? []) {
      request.headers.remove(name);
      for (const value of before) request.headers.append(name, value);
    }
    if (this.#target !== null) request.target = this.#target;
    this.#headers = null;
    this.#parameters = null;
    this.#target = null;
  }
}
