import type { ConfigDifference } from '../../src/admin/protocol/status.ts';
import type { GatewayConfig } from '../../src/config/ir/index.ts';

/** A configuration that was read without an error. */
export interface ReadConfig {
  readonly config: GatewayConfig;
  /** Identity of what was read: equal content, equal revision. */
  readonly revision: string;
  /** Every file that was read for it. */
  readonly files: readonly string[];
  /** As it was written, for differences: the provider alone knows in what form. */
  readonly written: unknown;
  /** What does not stop it from being used. */
  readonly warnings: readonly string[];
}

export interface ConfigWatch {
  /** Watches these files from now on. */
  update(files: readonly string[]): void;
  close(): void;
}

/** Where a gateway gets its configuration from; the supervisor knows no files. */
export interface ConfigProvider {
  /** Path of the file, or how the text was given; for people. */
  readonly source: string;
  /** Reads everything again; throws a `GwError` that lists every problem. */
  read(): Promise<ReadConfig>;
  /** Where the address of a document stands, for people: file, line and key. Null where it does not stand there as it is. */
  placeOfUrl(url: string): Promise<string | null>;
  /** Calls `onChange` when one of the files has changed. */
  watch(files: readonly string[], onChange: () => void): ConfigWatch;
  /** From the live configuration to the rejected one (null: to what the source holds now, as far as it can be parsed). */
  diff(live: ReadConfig, rejected: ReadConfig | null): Promise<readonly ConfigDifference[]>;
}
