import type { Stores } from '../../policy/contract.ts';
import type { McpReport } from './report.ts';
import { SessionsRecord } from './sessions-record.ts';
import { TargetRecord, type TargetRecordOptions } from './target-record.ts';

export type RecordedTarget = Pick<TargetRecordOptions, 'key' | 'program' | 'log'>;

/** Everything that one data thread has seen of MCP servers and their sessions. */
export class McpRecords {
  readonly #now: () => number;
  readonly #targets = new Set<TargetRecord>();
  readonly #sessions = new Set<SessionsRecord>();

  /** `now` is milliseconds since the epoch. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The record of a target; `identity` is of its whole definition, with which it is kept over reloads. */
  target(identity: string, { key, program, log }: RecordedTarget, stores: Stores): TargetRecord {
    const onRetired = (record: TargetRecord): void => void this.#targets.delete(record);
    const record = stores.get(
      `${identity}/record`,
      () => new TargetRecord({ key, program, now: this.#now, log, onRetired }),
    );
    this.#targets.add(record);
    return record;
  }

  /** Of a backend, kept as long as its sessions are. */
  sessions(identity: string, backend: string, stores: Stores): SessionsRecord {
    const onRetired = (record: SessionsRecord): void => void this.#sessions.delete(record);
    const record = stores.get(`${identity}/census`, () => new SessionsRecord(backend, onRetired));
    this.#sessions.add(record);
    return record;
  }

  report(): McpReport {
    return {
      targets: [...this.#targets].map((record) => record.report()),
      sessions: [...this.#sessions].map((record) => record.report()),
    };
  }
}
