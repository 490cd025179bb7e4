import { formatTime, jsonText, textValue, wallClockMs, type LogFormat } from '../../src/shared/log.ts';
import type { JsonValue } from '../exchange/attributes.ts';
import { ACCESS_FIELDS, ID_FIELDS, type AccessField, type AccessRecord, plainFields } from './access-fields.ts';
import type { Attribute } from './spans/span.ts';

const NOTHING: readonly Attribute[] = [];

export interface AccessLogOptions {
  readonly format: LogFormat;
  readonly write: (line: string) => void;
  readonly now?: (() => number) | undefined;
}

/** Writes one line per request under the scope `request`. */
export class AccessLog {
  /** Ask before collecting a record: false while the scope `request` is below info. */
  enabled = false;
  /** Ids are shown. */
  #debug = false;
  readonly #format: LogFormat;
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  #fields: readonly AccessField[] = ACCESS_FIELDS;
  #plainFields: readonly AccessField[] = plainFields(ACCESS_FIELDS);
  #hidden: ReadonlySet<string> = new Set();

  constructor(options: AccessLogOptions) {
    this.#format = options.format;
    this.#write = options.write;
    this.#now = options.now ?? wallClockMs;
  }

  /** Follows the process log's filter. */
  setLevel(level: { readonly info: boolean; readonly debug: boolean }): void {
    this.enabled = level.info;
    this.#debug = level.debug;
    this.#arrange();
  }

  /** Default fields that are left out: removed ones, and those that have another value. */
  setHidden(hidden: Iterable<string>): void {
    this.#hidden = new Set(hidden);
    this.#arrange();
  }

  /** `additions` stand behind the default fields. */
  write(record: AccessRecord, additions: readonly Attribute[] = NOTHING): void {
    if (!this.enabled) return;
    this.#write(this.#format === 'json' ? this.#json(record, additions) : this.#text(record, additions));
  }

  #arrange(): void {
    const all = this.#debug ? [...ID_FIELDS, ...ACCESS_FIELDS] : ACCESS_FIELDS;
    this.#fields = all.filter(([key]) => !this.#hidden.has(key));
    this.#plainFields = plainFields(this.#fields);
  }

  #fieldsOf({ llm, a2a, mcp }: AccessRecord): readonly AccessField[] {
    return llm === undefined && a2a === undefined && mcp === undefined ? this.#plainFields : this.#fields;
  }

  #text(record: AccessRecord, additions: readonly Attribute[]): string {
    let line = `${formatTime(this.#now())}\tinfo\trequest`;
    for (const [key, read] of this.#fieldsOf(record)) {
      const value = read(record);
      if (value === undefined || value === null || value === '') continue;
      line += ` ${key}=${key === 'error' ? jsonText(value) : textValue(value)}`;
    }
    for (const [key, value] of additions) line += ` ${keyText(key)}=${valueText(value)}`;
    return `${line}\n`;
  }

  #json(record: AccessRecord, additions: readonly Attribute[]): string {
    const line: Record<string, JsonValue> = { level: 'info', time: formatTime(this.#now()), scope: 'request' };
    for (const [key, read] of this.#fieldsOf(record)) {
      const value = read(record);
      if (value !== undefined && value !== null && value !== '') line[key] = value;
    }
    for (const [key, value] of additions) setOwn(line, key, value);
    return `${jsonText(line)}\n`;
  }
}

/** Keys of flattened maps come from clients: one that could be taken for more than a key is quoted. */
function keyText(key: string): string {
  return key.includes('=') ? jsonText(key) : textValue(key);
}

function valueText(value: JsonValue): string {
  return typeof value === 'object' ? textValue(JSON.stringify(value)) : textValue(value);
}

/** `__proto__` is a key like any other. */
function setOwn(line: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key !== '__proto__') line[key] = value;
  else Object.defineProperty(line, key, { value, enumerable: true });
}
