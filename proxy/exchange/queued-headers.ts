import { Headers } from './headers.ts';

/**
 * Response headers that request policies decide on before there is a response (CORS, rate limits, external services).
 * They are merged into whatever response is produced, after every response policy.
 */
export class QueuedHeaders {
  readonly #overwriting = new Headers();
  readonly #defaults = new Headers();
  readonly #items = new Headers();
  readonly #beside = new Headers();
  readonly #corrections = new Headers();

  /** Replaces the response's fields of that name; every value queued for a name is kept. */
  add(name: string, value: string): void {
    this.#overwriting.append(name, value);
  }

  /** Replaces the response's fields of that name, and what was queued for it before. */
  set(name: string, value: string): void {
    this.#overwriting.set(name, value);
  }

  /** Takes back what was queued to replace the fields of a lower-case name. */
  drop(name: string): void {
    this.#overwriting.remove(name);
  }

  /** Only when neither the response nor an earlier policy has that name. */
  addDefault(name: string, value: string): void {
    if (!this.#defaults.has(name)) this.#defaults.append(name, value);
  }

  /** The same, in the place of what was said by this method or `addDefault` before; null takes it back. */
  setDefault(name: string, value: string | null): void {
    if (value === null) this.#defaults.remove(name);
    else this.#defaults.set(name, value);
  }

  /** One more field beside those of the response. */
  addBeside(name: string, value: string): void {
    this.#beside.append(name, value);
  }

  /** Replaces the response's fields of that name when there are any; else nothing. */
  addIfPresent(name: string, value: string): void {
    this.#corrections.append(name, value);
  }

  /** One more item of a field that is a list (`vary`), whose other items stay. */
  addItem(name: string, item: string): void {
    this.#items.append(name, item);
  }

  has(name: string): boolean {
    return [this.#overwriting, this.#defaults, this.#items, this.#beside].some((headers) => headers.has(name));
  }

  mergeInto(headers: Headers): void {
    const present = new Set(this.#corrections.names.filter((name) => headers.has(name)));
    for (const name of present) headers.remove(name);
    for (const [name, value] of this.#corrections) if (present.has(name)) headers.append(name, value);
    for (const [name, value] of this.#defaults) if (!headers.has(name)) headers.append(name, value);
    for (const name of new Set(this.#overwriting.names)) headers.remove(name);
    for (const [name, value] of this.#overwriting) headers.append(name, value);
    for (const [name, value] of this.#beside) headers.append(name, value);
    for (const [name, item] of this.#items) mergeItem(headers, name, item);
  }
}

function mergeItem(headers: Headers, name: string, item: string): void {
  const values = headers.getAll(name);
  const items = values.join(',').split(',');
  const wanted = item.toLowerCase();
  // `Vary: *` says more than any name (RFC 9110 section 12.5.5).
  if (items.some((known) => known.trim() === '*' || known.trim().toLowerCase() === wanted)) return;
  headers.set(name, [...values.filter((value) => value.trim() !== ''), item].join(', '));
}
