import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { ConfigError, type ConfigIssue } from '../errors.ts';
import type { GatewayConfig } from '../ir/gateway.ts';
import { Context, type Host } from '../normalize/context.ts';
import { namesOf } from '../normalize/names.ts';
import { normalize } from '../normalize/normalize.ts';
import { root as rootSchema } from '../schema/root.ts';
import { problemsOf } from './decode.ts';
import { expandText, type Environment, type Expanded } from './expand.ts';
import { FileStore, type ReadFile } from './files.ts';
import { maskedText } from './masked-text.ts';
import { formatPath, type Path, type Problem } from './problem.ts';
import { screen } from './screen.ts';
import { readFromDisk, readSource, type ConfigSource, type SourceText } from './source.ts';
import { specsOf, survivingSpecs } from './specs.ts';
import { textProblems } from './texts.ts';
import { LineIndex, placeOf } from './text.ts';
import { locate, readYaml, type Located, type Range } from './yaml.ts';

export interface LoadOptions {
  readonly env: Environment;
  /** Default: the disk. */
  readonly readFile?: ReadFile | undefined;
  /** Where relative paths of sources that are not files start. Default: the working directory. */
  readonly directory?: string | undefined;
  /** Processors that this process may use. Default: as the system says. */
  readonly cpus?: number | undefined;
  /** Default: the present; certificates are compared with it. */
  readonly now?: Date | undefined;
}

/** A configuration that can be used. */
export interface LoadedConfig {
  readonly config: GatewayConfig;
  /** Absolute paths of the configuration and of every file it refers to, to watch. */
  readonly files: readonly string[];
  /** The parsed text, variables expanded, for differences. */
  readonly raw: unknown;
  /** The text as it was read. */
  readonly text: string;
  /** The text with its secrets masked, for messages. */
  shown(): string;
  /** Short hash of everything that took part: equal revisions mean equal configurations. */
  readonly revision: string;
  /** What does not stop the configuration from being used. */
  readonly warnings: readonly ConfigIssue[];
  /** Every expression that stands in the file itself. */
  readonly expressions: readonly { readonly path: Path; readonly source: string }[];
  /** Where a path of `raw` stands in the text as it was written. */
  placeOf(path: Path, atKey?: boolean): FilePlace;
}

/** A place of the file; line and column from 1. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The characters that stand there, up to the end of the line. */
  readonly written: string;
}

/** Reads, checks and normalizes a configuration; throws a `ConfigError` that holds every problem found. */
export async function loadConfig(source: ConfigSource, options: LoadOptions): Promise<LoadedConfig> {
  const { readFile = readFromDisk, directory = process.cwd() } = options;
  const read = await readSource(source, { readFile, directory });
  if (typeof read === 'string') throw unreadable(source, read);
  const expanded = expandText(read.text, options.env);
  const report = new Report(read, expanded);
  const yaml = parse(expanded, report);
  return check({ read, expanded, yaml, report, files: new FileStore(readFile, read.directory), host: hostOf(options) });
}

function unreadable(source: ConfigSource, message: string): ConfigError {
  const file = source.kind === 'file' ? source.path : source.kind === 'stdin' ? '<stdin>' : source.name;
  const hint = source.kind === 'file' ? 'name another file with -f, or give the text with -c' : undefined;
  return new ConfigError([{ code: 'GW_CONFIG_FILE', severity: 'error', message, path: '', file, hint }], '');
}

function hostOf({ env, cpus, now }: LoadOptions): Host {
  return { env, cpus: cpus ?? availableParallelism(), now: now ?? new Date() };
}

/** Problems of the text itself end the reading: what stands in it is not known then. */
function parse(expanded: Expanded, report: Report): Located {
  for (const { start, end, message, hint } of expanded.failures)
    report.original([start, end], { code: 'GW_CONFIG_VARIABLE', message, hint });
  report.throwErrors();
  const { root, problems } = readYaml(expanded.text);
  for (const { range, message, hint } of problems) report.expanded(range, { code: 'GW_CONFIG_SYNTAX', message, hint });
  report.throwErrors();
  return root;
}

interface Job {
  readonly read: SourceText;
  readonly expanded: Expanded;
  readonly yaml: Located;
  readonly report: Report;
  readonly files: FileStore;
  readonly host: Host;
}

async function check({ read, expanded, yaml, report, files, host }: Job): Promise<LoadedConfig> {
  const raw = yaml.value ?? {};
  const names = namesOf(raw);
  const screened = screen(rootSchema, raw, names);
  const decoded = rootSchema.safeParse(screened.value);
  const problems = [...screened.problems, ...(decoded.success ? [] : problemsOf(decoded.error, rootSchema, screened))];
  const specs = decoded.success ? specsOf(decoded.data) : survivingSpecs(screened.value);
  const fresh = () => new Context({ names, files, host, partial: problems.length > 0 });
  let context = fresh();
  let config = normalize(context, specs);
  while (await files.load()) {
    context = fresh();
    config = normalize(context, specs);
  }
  report.problems([...problems, ...context.problems, ...(await textProblems(screened.texts))], yaml);
  report.throwErrors(yaml);
  return {
    config,
    files: [...(read.file === undefined ? [] : [read.file]), ...files.entries().map(([path]) => path)],
    raw,
    text: read.text,
    shown: () => report.shown(yaml),
    revision: revisionOf(expanded.text, config, files),
    warnings: report.issues(),
    expressions: screened.texts.filter(({ kind }) => kind === 'cel'),
    placeOf: (path, atKey) => report.placeAt(yaml, path, atKey),
  };
}

function revisionOf(text: string, config: GatewayConfig, files: FileStore): string {
  const hash = createHash('sha256').update(text).update('\0').update(JSON.stringify(config.process));
  for (const [path, content] of files.entries())
    hash.update(`\0${path}\0${content.kind === 'text' ? content.text : ''}`);
  return hash.digest('hex').slice(0, 12);
}

/** Collects issues and gives them their places in the text as it was written. */
class Report {
  readonly #source: SourceText;
  readonly #expanded: Expanded;
  readonly #index: LineIndex;
  readonly #issues = new Map<string, ConfigIssue>();

  constructor(source: SourceText, expanded: Expanded) {
    this.#source = source;
    this.#expanded = expanded;
    this.#index = new LineIndex(source.text);
  }

  original([start, end]: Range, issue: Pick<ConfigIssue, 'code' | 'message' | 'hint'>): void {
    this.#add({
      ...issue,
      severity: 'error',
      path: '',
      file: this.#source.name,
      ...placeOf(this.#index, start, this.#lineEnd(start, end)),
    });
  }

  expanded(range: Range, issue: Pick<ConfigIssue, 'code' | 'message' | 'hint'>): void {
    this.original(this.#originalRange(range), issue);
  }

  problems(problems: readonly Problem[], root: Located): void {
    for (const { path, code, message, hint, severity = 'error', atKey, subject } of problems) {
      const base = { code, severity, message, hint, file: this.#source.name };
      if (subject !== undefined) {
        this.#add({ ...base, path: subject });
        continue;
      }
      const [start, end] = this.#originalRange(locate(root, path, atKey));
      this.#add({ ...base, path: formatPath(path), ...placeOf(this.#index, start, this.#lineEnd(start, end)) });
    }
  }

  placeAt(root: Located, path: Path, atKey?: boolean): FilePlace {
    const [start, end] = this.#originalRange(locate(root, path, atKey));
    const { line = 1, column = 1 } = placeOf(this.#index, start, this.#lineEnd(start, end));
    const written = this.#source.text.slice(start, this.#lineEnd(start, end));
    return { file: this.#source.name, line, column, written };
  }

  /** Every issue once, in the order of the file. */
  issues(): ConfigIssue[] {
    return [...this.#issues.values()].sort(
      (left, right) => (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0),
    );
  }

  /** `yaml` is what stands in the text, as soon as that is known. */
  throwErrors(yaml?: Located): void {
    const issues = this.issues();
    if (issues.some(({ severity }) => severity === 'error'))
      throw new ConfigError(issues, yaml === undefined ? this.#source.text : this.shown(yaml));
  }

  /** The text without its secrets. */
  shown(yaml: Located): string {
    const place = (range: Range): Range => this.#originalRange(range);
    return maskedText(this.#source.text, yaml, { schema: rootSchema, place });
  }

  #add(issue: ConfigIssue): void {
    this.#issues.set(`${issue.path}\0${issue.line}\0${issue.column}\0${issue.message}`, issue);
  }

  #originalRange([start, end]: Range): Range {
    const from = this.#expanded.original(start);
    return [from, Math.max(from + 1, this.#expanded.original(end))];
  }

  /** Underlines stay on their first line. */
  #lineEnd(start: number, end: number): number {
    const stop = this.#source.text.indexOf('\n', start);
    const bounded = stop === -1 ? end : Math.min(end, stop);
    return start + Math.max(1, this.#source.text.slice(start, bounded).trimEnd().length);
  }
}
