import type { DiffLine } from '../../src/admin/protocol/status.ts';
import type { GatewayConfig } from '../../src/config/ir/index.ts';

/** A configuration that was read without an error. */
export interface ReadConfig {
  readonly config: GatewayConfig;
  /** Identity of what was read: equal content, equal revision. */
  readonly revision: string;
  /** Every file that was read for it. */
  readonly files: readonly string[];
  /** The source as it was written. */
  readonly text: string;
}

/** Where a gateway gets its configuration from; the supervisor knows no files. */
export interface ConfigProvider {
  /** Path of the file, or how the text was given; for people. */
  readonly source: string;
  /** Reads everything again; throws a `GwError` that lists every problem. */
  read(): Promise<ReadConfig>;
  /** Calls `onChange` when one of the files has changed, until the signal aborts. */
  watch(files: readonly string[], onChange: () => void, signal: AbortSignal): void;
  /** From the live text to another one, secrets hidden. */
  diff(live: string, other: string): readonly DiffLine[];
  /** The text as it stands now, readable or not; null when there is none. */
  currentText(): Promise<string | null>;
}
