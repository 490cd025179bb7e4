/** From silent to chatty; a filter lets through everything up to its level. */
export const logLevels = ['off', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFormat = 'text' | 'json';

export type LogValue = string | number | boolean | null | undefined;
export type LogFields = Readonly<Record<string, LogValue>>;

/** What code that logs is given: one scope of the process log. */
export interface Log {
  readonly scope: string;
  /** Ask before building an expensive message. */
  enabled(level: LogLevel): boolean;
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  trace(message: string, fields?: LogFields): void;
}

interface Clause {
  /** Empty for the level of every scope that no other clause names. */
  readonly target: string;
  readonly level: LogLevel;
}

/** `info,request=off,config=debug`: a level, and levels of single scopes. The most specific clause decides. */
export class LogFilter {
  readonly #clauses: readonly Clause[];

  private constructor(clauses: readonly Clause[]) {
    this.#clauses = clauses;
  }

  /** Reads comma-separated clauses; returns the reason as a text when one is not understood. */
  static parse(text: string): LogFilter | string {
    return new LogFilter([]).with(text);
  }

  /** This filter with further clauses behind it; a clause replaces an earlier one of the same scope. */
  with(text: string): LogFilter | string {
    if (text.length > 4096) return 'the filter is longer than 4096 characters';
    let clauses = this.#clauses;
    for (const part of text.split(',')) {
      const clause = parseClause(part.trim());
      if (typeof clause === 'string') return clause;
      clauses = [...clauses.filter((known) => known.target !== clause.target), clause];
    }
    return new LogFilter(clauses);
  }

  levelOf(scope: string): LogLevel {
    let found: Clause | undefined;
    for (const clause of this.#clauses) {
      if (covers(clause.target, scope) && (found === undefined || clause.target.length >= found.target.length))
        found = clause;
    }
    return found?.level ?? 'off';
  }

  enabled(scope: string, level: LogLevel): boolean {
    return level !== 'off' && rank(level) <= rank(this.levelOf(scope));
  }

  toString(): string {
    return this.#clauses.map(({ target, level }) => (target === '' ? level : `${target}=${level}`)).join(',');
  }
}

export interface LoggerOptions {
  readonly filter: LogFilter;
  readonly format: LogFormat;
  /** Takes one whole line with its line end; must not block. */
  readonly write: (line: string) => void;
  /** Wall clock in milliseconds; the default has microseconds. */
  readonly now?: () => number;
}

/** The process log of one thread: formats lines of every scope and can change its filter while running. */
export class Logger {
  readonly format: LogFormat;
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  readonly #scopes = new Map<string, ScopeLog>();
  #filter: LogFilter;

  constructor(options: LoggerOptions) {
    this.format = options.format;
    this.#filter = options.filter;
    this.#write = options.write;
    this.#now = options.now ?? wallClockMs;
  }

  get filter(): LogFilter {
    return this.#filter;
  }

  setFilter(filter: LogFilter): void {
    this.#filter = filter;
    for (const log of this.#scopes.values()) log.limit = rank(filter.levelOf(log.scope));
  }

  scope(name: string): Log {
    let log = this.#scopes.get(name);
    if (log === undefined) {
      log = new ScopeLog(name, rank(this.#filter.levelOf(name)), (level, message, fields) => {
        this.#write(formatLine(this.format, { timeMs: this.#now(), level, scope: name, message, fields }));
      });
      this.#scopes.set(name, log);
    }
    return log;
  }
}

type Emit = (level: LogLevel, message: string, fields: LogFields) => void;
const none: LogFields = {};

class ScopeLog implements Log {
  readonly scope: string;
  limit: number;
  readonly #emit: Emit;

  constructor(scope: string, limit: number, emit: Emit) {
    this.scope = scope;
    this.limit = limit;
    this.#emit = emit;
  }

  enabled(level: LogLevel): boolean {
    return level !== 'off' && rank(level) <= this.limit;
  }

  error(message: string, fields: LogFields = none): void {
    if (this.limit >= 1) this.#emit('error', message, fields);
  }

  warn(message: string, fields: LogFields = none): void {
    if (this.limit >= 2) this.#emit('warn', message, fields);
  }

  info(message: string, fields: LogFields = none): void {
    if (this.limit >= 3) this.#emit('info', message, fields);
  }

  debug(message: string, fields: LogFields = none): void {
    if (this.limit >= 4) this.#emit('debug', message, fields);
  }

  trace(message: string, fields: LogFields = none): void {
    if (this.limit >= 5) this.#emit('trace', message, fields);
  }
}

export interface LogLine {
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly scope: string;
  readonly message: string;
  readonly fields?: LogFields | undefined;
}

/** One line of the process log, its line end included. */
export function formatLine(format: LogFormat, line: LogLine): string {
  const time = formatTime(line.timeMs);
  if (format === 'json') {
    return `${jsonText({ level: line.level, time, scope: line.scope, message: line.message, ...line.fields })}\n`;
  }
  const fields = Object.entries(line.fields ?? none)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => `${key}=${textValue(value ?? '')}`)
    .join(' ');
  return `${time}\t${line.level}\t${line.scope}\t${oneLine(line.message)}${fields === '' ? '' : `\t${fields}`}\n`;
}

let cachedSecond = -1;
let cachedPrefix = '';

/** RFC 3339 in UTC with microseconds. The part up to the second is formatted once per second: access logs ask often. */
export function formatTime(timeMs: number): string {
  const second = Math.floor(timeMs / 1000);
  if (second !== cachedSecond) {
    cachedSecond = second;
    cachedPrefix = new Date(second * 1000).toISOString().slice(0, 20);
  }
  const micros = Math.min(999_999, Math.round((timeMs - second * 1000) * 1000));
  return `${cachedPrefix}${String(micros).padStart(6, '0')}Z`;
}

/** Wall clock in milliseconds with microseconds behind the point. */
export function wallClockMs(): number {
  const precise = performance.timeOrigin + performance.now();
  const system = Date.now();
  // The monotonic clock does not see corrections of the system's clock: when they part, the system's wins.
  return Math.abs(system - precise) > 5 ? system : precise;
}

// Blanks, control characters and quotes in a value would forge fields or lines, or turn the direction of the text.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0020"\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
/** Those of them that JSON leaves as they are. */
const UNESCAPED = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex
const BREAKS = /\s*[\u0000-\u001f\u007f-\u009f\u2028\u2029]\s*/g;

/** JSON on one line, without a character that a terminal or a reader of lines would obey. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(UNESCAPED, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value of a text line: as it stands, or as a JSON string when it could be mistaken for something else. */
export function textValue(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  return UNSAFE.test(value) ? jsonText(value) : value;
}

function oneLine(message: string): string {
  return message.replace(BREAKS, ' ');
}

function parseClause(text: string): Clause | string {
  const equals = text.indexOf('=');
  const target = equals === -1 ? '' : text.slice(0, equals).trim();
  const level = text.slice(equals + 1).trim();
  if (!isLogLevel(level)) return `"${text}" is not a level (${logLevels.join(', ')}) or scope=level`;
  if (equals !== -1 && !/^[\w.:/-]{1,128}$/.test(target)) return `"${target}" is not the name of a scope`;
  return { target, level };
}

function isLogLevel(text: string): text is LogLevel {
  return logLevels.some((level) => level === text);
}

/** `proxy` covers `proxy`, `proxy.listener` and `proxy::listener`. */
function covers(target: string, scope: string): boolean {
  if (target === '' || target === scope) return true;
  return scope.startsWith(target) && /[.:/]/.test(scope[target.length] ?? '');
}

function rank(level: LogLevel): number {
  return logLevels.indexOf(level);
}
