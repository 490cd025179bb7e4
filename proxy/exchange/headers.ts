/**
 * An ordered multi-map of header fields. Names are lower case; the spelling a peer used is kept beside them when it
 * differs, so that `http1HeaderCase: preserve` can write it back. Look-ups are linear: messages have few fields.
 */
export class Headers {
  /** Lower-case names, values and (sparse) original spellings, by position. Read freely; change through the methods. */
  readonly names: string[];
  readonly values: string[];
  #spellings: (string | undefined)[] | null = null;

  constructor(names: string[] = [], values: string[] = []) {
    this.names = names;
    this.values = values;
  }

  static from(pairs: Iterable<readonly [string, string]>): Headers {
    const headers = new Headers();
    for (const [name, value] of pairs) headers.append(name, value);
    return headers;
  }

  get size(): number {
    return this.names.length;
  }

  /** The first value of a lower-case name. */
  get(name: string): string | undefined {
    const at = this.names.indexOf(name);
    return at === -1 ? undefined : this.values[at];
  }

  /** Every value of a lower-case name, in order. */
  getAll(name: string): string[] {
    const found: string[] = [];
    for (let i = this.names.indexOf(name); i !== -1; i = this.names.indexOf(name, i + 1))
      found.push(this.values[i] ?? '');
    return found;
  }

  has(name: string): boolean {
    return this.names.includes(name);
  }

  /** Adds a field behind the others; `name` may be spelled in any case. */
  append(name: string, value: string): void {
    const lower = name.toLowerCase();
    this.names.push(lower);
    this.values.push(value);
    if (lower !== name) this.spell(this.names.length - 1, name);
  }

  /** Replaces every field of that name by one, at the place of the first. */
  set(name: string, value: string): void {
    const lower = name.toLowerCase();
    const at = this.names.indexOf(lower);
    if (at === -1) {
      this.append(name, value);
      return;
    }
    this.values[at] = value;
    for (let i = this.names.indexOf(lower, at + 1); i !== -1; i = this.names.indexOf(lower, i)) this.#removeAt(i);
  }

  /** Removes every field of a lower-case name; tells whether there was one. */
  remove(name: string): boolean {
    let i = this.names.indexOf(name);
    if (i === -1) return false;
    for (; i !== -1; i = this.names.indexOf(name, i)) this.#removeAt(i);
    return true;
  }

  /** Records how the peer spelled the name at a position. */
  spell(index: number, original: string): void {
    this.#spellings ??= [];
    this.#spellings[index] = original;
  }

  /** The name at a position as the peer spelled it. */
  spelling(index: number): string {
    return this.#spellings?.[index] ?? this.names[index] ?? '';
  }

  clone(): Headers {
    const copy = new Headers(this.names.slice(), this.values.slice());
    copy.#spellings = this.#spellings === null ? null : this.#spellings.slice();
    return copy;
  }

  *[Symbol.iterator](): Generator<readonly [name: string, value: string]> {
    for (let i = 0; i < this.names.length; i++) yield [this.names[i] ?? '', this.values[i] ?? ''];
  }

  #removeAt(index: number): void {
    dropAt(this.names, index);
    dropAt(this.values, index);
    this.#spellings?.splice(index, 1);
  }
}

/** As `splice`, which makes a list of what it removes. */
function dropAt(list: string[], index: number): void {
  list.copyWithin(index, index + 1);
  list.pop();
}
