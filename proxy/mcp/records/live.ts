import type { McpReport, ProgramsReport, SessionsReport, TargetReport, ToolsReport } from './report.ts';

/** What all data threads have seen of one target together. */
export interface TargetNumbers extends Omit<TargetReport, 'key'> {
  /** Sessions of clients that have a session or a program of it. */
  readonly sessions: number;
}

/** What the data threads tell of MCP, as one. */
export class McpLive {
  /** Milliseconds since the epoch, of the reports. */
  readonly nowMs: number;
  readonly #targets: ReadonlyMap<string, readonly TargetReport[]>;
  readonly #sessions: ReadonlyMap<string, SessionCount>;

  constructor(reports: readonly McpReport[], nowMs: number) {
    this.nowMs = nowMs;
    this.#targets = Map.groupBy(
      reports.flatMap(({ targets }) => targets),
      ({ key }) => key,
    );
    const sessions = Map.groupBy(
      reports.flatMap((report) => report.sessions),
      ({ backend }) => backend,
    );
    this.#sessions = new Map([...sessions].map(([backend, each]) => [backend, countSessions(each)]));
  }

  /** Open sessions of a backend, by its key. */
  sessionsOf(backend: string): number {
    return this.#sessions.get(backend)?.all ?? 0;
  }

  /** Undefined where no thread knows the target, by the key of its backend and its name. */
  target(backend: string, name: string): TargetNumbers | undefined {
    const reports = this.#targets.get(`${backend}/${name}`);
    if (reports === undefined) return undefined;
    return { ...together(reports), sessions: this.#sessions.get(backend)?.byTarget.get(name) ?? 0 };
  }
}

function together(reports: readonly TargetReport[]): Omit<TargetReport, 'key'> {
  const sum = (read: (report: TargetReport) => number): number => reports.reduce((all, each) => all + read(each), 0);
  const answeredAt = Math.max(...reports.map((report) => report.answeredAt));
  const last = latest(reports, ({ failedAt }) => failedAt);
  const met = latest(reports, (report) => (report.versions.length === 0 ? 0 : Math.max(1, report.answeredAt)));
  return {
    calls: sum(({ calls }) => calls),
    failures: sum(({ failures }) => failures),
    errors: sum(({ errors }) => errors),
    answeredAt,
    failedAt: last?.failedAt ?? 0,
    failingSince: failingSince(reports, answeredAt),
    lastError: last?.lastError ?? null,
    versions: [
      ...new Set([...reports.flatMap(({ versions }) => versions), ...(met?.versions ?? [])].toReversed()),
    ].toReversed(),
    server: latest(reports, (report) => (report.server === null ? 0 : Math.max(1, report.answeredAt)))?.server ?? null,
    tools: toolsOf(reports),
    programs: programsOf(reports),
  };
}

/** What a thread has heard counts for all: who answered one of them after another has failed is well. */
function failingSince(reports: readonly TargetReport[], answeredAt: number): number {
  const failing = reports.filter(({ failedAt, failingSince: since }) => since > 0 && failedAt > answeredAt);
  return failing.length === 0 ? 0 : Math.min(...failing.map((report) => Math.max(report.failingSince, answeredAt)));
}

function toolsOf(reports: readonly TargetReport[]): ToolsReport | null {
  const known = reports.flatMap(({ tools }) => tools ?? []);
  const whole = known.filter(({ more }) => !more);
  return latest(whole.length > 0 ? whole : known, ({ at }) => at + 1) ?? null;
}

function programsOf(reports: readonly TargetReport[]): ProgramsReport | null {
  const known = reports.flatMap(({ programs }) => programs ?? []);
  if (known.length === 0) return null;
  return {
    running: known.reduce((all, { running }) => all + running, 0),
    spare: known.reduce((all, { spare }) => all + spare, 0),
    restarts: known.reduce((all, { restarts }) => all + restarts, 0),
    notBefore: Math.max(...known.map(({ notBefore }) => notBefore)),
  };
}

/** The one with the highest time; undefined where none has one. */
function latest<T>(all: readonly T[], timeOf: (each: T) => number): T | undefined {
  let found: T | undefined;
  let at = 0;
  for (const each of all) {
    const time = timeOf(each);
    if (time <= at) continue;
    found = each;
    at = time;
  }
  return found;
}

interface SessionCount {
  readonly all: number;
  readonly byTarget: ReadonlyMap<string, number>;
}

/** A session that several threads know counts once, with the targets of the copy that knows most. */
function countSessions(reports: readonly SessionsReport[]): SessionCount {
  const ended = new Set(reports.flatMap((report) => [...report.ended]));
  const open = new Map<number, readonly string[]>();
  for (const { targets, ids } of reports.flatMap(({ groups }) => groups)) {
    for (const id of ids) if (!ended.has(id) && targets.length >= (open.get(id)?.length ?? 0)) open.set(id, targets);
  }
  const byTargets = new Map<readonly string[], number>();
  for (const targets of open.values()) byTargets.set(targets, (byTargets.get(targets) ?? 0) + 1);
  const byTarget = new Map<string, number>();
  for (const [targets, count] of byTargets)
    for (const target of targets) byTarget.set(target, (byTarget.get(target) ?? 0) + count);
  return { all: open.size, byTarget };
}
