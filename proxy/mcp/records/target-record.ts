import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { Log } from '../../../src/shared/log.ts';
import type { LastingState } from '../../policy/contract.ts';
import type { TargetFailure } from '../targets/contract.ts';
import type { ProgramsReport, ServerFacts, TargetReport, ToolsReport } from './report.ts';

/** What targets say is kept up to here. */
const MAX_TEXT = 300;
const MAX_NAME = 128;
const MAX_VERSIONS = 8;
const MAX_TOOL_NAMES = 1000;

export interface TargetRecordOptions {
  /** Of the target. */
  readonly key: string;
  /** It is a program. */
  readonly program: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Hears when it begins to fail, and when it answers again; null where that is told elsewhere. */
  readonly log: Log | null;
  /** The live configuration does not have the target. */
  readonly onRetired: (record: TargetRecord) => void;
}

/** What a data thread has seen of one target; outlives reloads that leave the target as it is. */
export class TargetRecord implements LastingState {
  readonly #options: TargetRecordOptions;
  readonly #versions = new Set<string>();
  #calls = 0;
  #failures = 0;
  #errors = 0;
  #answeredAt = 0;
  #failedAt = 0;
  #failingSince = 0;
  /** That it fails stands in the log. */
  #told = false;
  #lastError: string | null = null;
  #server: ServerFacts | null = null;
  #tools: ToolsReport | null = null;
  /** Of a list that comes page by page. */
  readonly #pages = new Set<string>();
  #running = 0;
  #spare = 0;
  #restarts = 0;
  #notBefore = 0;

  constructor(options: TargetRecordOptions) {
    this.#options = options;
  }

  called(): void {
    this.#calls += 1;
  }

  answered(withError: boolean): void {
    if (withError) this.#errors += 1;
    this.#answeredAt = this.#options.now();
    if (this.#failingSince !== 0) this.#recovered();
  }

  failed(failure: TargetFailure): void {
    // What it does not have, nobody can expect of it.
    if (failure.kind === 'unsupported') return;
    const now = this.#options.now();
    this.#failures += 1;
    this.#failedAt = now;
    if (this.#failingSince === 0) this.#failingSince = now;
    this.#lastError = clipped('message' in failure ? failure.message : failure.error.message, MAX_TEXT);
    if (this.#told || !isFault(failure)) return;
    this.#told = true;
    this.#options.log?.warn(`the server fails: ${this.#lastError}`, { target: this.#name });
  }

  #recovered(): void {
    const failedForMs = this.#answeredAt - this.#failingSince;
    this.#failingSince = 0;
    if (!this.#told) return;
    this.#told = false;
    this.#options.log?.info('the server answers again', { target: this.#name, failedFor: formatDuration(failedForMs) });
  }

  get #name(): string {
    const { key } = this.#options;
    return key.slice(key.lastIndexOf('/') + 1);
  }

  /** A conversation has found out what it speaks, and perhaps who it is. */
  met(version: string, told: JsonObject | null): void {
    const known = clipped(version, MAX_NAME);
    // The last one stands last.
    this.#versions.delete(known);
    if (this.#versions.size < MAX_VERSIONS) this.#versions.add(known);
    const info = told?.['serverInfo'];
    if (!isJsonObject(info)) return;
    this.#server = { name: textOf(info['name']), version: textOf(info['version']) };
  }

  /** A session that was begun elsewhere goes on in this version; what was agreed here says more. */
  resumed(version: string): void {
    if (this.#versions.size === 0) this.#versions.add(clipped(version, MAX_NAME));
  }

  /** A page of its tools; the first one where `continues` is false. */
  listed(result: JsonObject, continues: boolean): void {
    const { tools, nextCursor } = result;
    if (!Array.isArray(tools)) return;
    const more = typeof nextCursor === 'string';
    const at = this.#options.now();
    if (!continues && !more) {
      this.#tools = { count: tools.length, names: namesIn(tools), more, at };
      return;
    }
    // Several clients may turn pages at once: what they see is the same list.
    if (!continues) this.#pages.clear();
    for (const name of namesIn(tools, tools.length)) this.#pages.add(name);
    if (more && this.#tools?.more === false) return;
    this.#tools = { count: this.#pages.size, names: [...this.#pages].slice(0, MAX_TOOL_NAMES), more, at };
    if (!more) this.#pages.clear();
  }

  programBegan(): void {
    this.#running += 1;
  }

  programEnded(): void {
    this.#running -= 1;
  }

  spareBegan(): void {
    this.#spare += 1;
  }

  spareEnded(): void {
    this.#spare -= 1;
  }

  programRestarted(): void {
    this.#restarts += 1;
  }

  /** Programs end before they have answered anything. */
  programsWait(ms: number): void {
    this.#notBefore = ms === 0 ? 0 : this.#options.now() + ms;
  }

  report(): TargetReport {
    const { key, program } = this.#options;
    return {
      key,
      calls: this.#calls,
      failures: this.#failures,
      errors: this.#errors,
      answeredAt: this.#answeredAt,
      failedAt: this.#failedAt,
      failingSince: this.#failingSince,
      lastError: this.#lastError,
      versions: [...this.#versions],
      server: this.#server,
      tools: this.#tools,
      programs: program ? this.#programs() : null,
    };
  }

  #programs(): ProgramsReport {
    return { running: this.#running, spare: this.#spare, restarts: this.#restarts, notBefore: this.#notBefore };
  }

  retired(): void {
    this.#options.onRetired(this);
  }

  close(): Promise<void> {
    this.retired();
    return Promise.resolve();
  }
}

/** What is wrong with the server itself, and not with what one client asks of it. */
function isFault(failure: TargetFailure): boolean {
  return failure.kind === 'broken' || (failure.kind === 'http' && failure.status >= 500);
}

function namesIn(tools: readonly unknown[], most = MAX_TOOL_NAMES): string[] {
  const names: string[] = [];
  for (let at = 0; at < tools.length && at < most; at++) {
    const tool = tools[at];
    const name = typeof tool === 'object' && tool !== null && 'name' in tool ? tool.name : undefined;
    if (typeof name === 'string') names.push(clipped(name, MAX_NAME));
  }
  return names;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? clipped(value, MAX_NAME) : '';
}

function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
