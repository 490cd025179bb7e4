import { readFile } from 'node:fs/promises';
import { fileError } from '../../src/admin/client/read-file.ts';
import { formatBytes } from '../../src/shared/byte-size.ts';
import { GwError, messageOf } from '../../src/shared/errors.ts';
import { topFunctions, type FunctionCost } from '../../src/profile/top-functions.ts';
import { formatValue } from '../../src/profile/format-value.ts';
import { readProfile } from '../../src/profile/read-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { renderTable, type Column } from '../../ui/text/table.ts';
import type { Paint } from '../../ui/text/paint.ts';
import { widthOf, write, type Cli } from './cli.ts';
import { withClient, type TargetChoice, type Tell } from './target.ts';
import { usageError } from './usage-error.ts';
import { writeWhole } from './write-file.ts';

export type ProfileKind = 'cpu' | 'heap';

export interface ProfileRun {
  readonly kind: ProfileKind;
  readonly choice: TargetChoice;
  /** `-` is stdout; undefined is a name made of the kind and the time. */
  readonly output: string | undefined;
  readonly seconds?: number | undefined;
  readonly frequencyHz?: number | undefined;
}

export interface Surroundings {
  readonly cli: Cli;
  readonly tell: Tell;
  /** Whether nothing but errors goes to stderr. */
  readonly quiet: boolean;
  readonly paint: Paint;
  readonly columns: number | undefined;
}

const TOP = 10;
const FORMATS = new Set(['json', 'yaml', 'table', 'wide', 'name', 'jsonl']);

/** Takes a profile, writes it whole or not at all, and sums it up. */
export async function takeProfile(run: ProfileRun, surroundings: Surroundings): Promise<void> {
  const { cli } = surroundings;
  if (run.output !== undefined && FORMATS.has(run.output)) {
    throw usageError(
      `-o is the file of the profile, which has no ${run.output} form`,
      `-o ./${run.output}, if a file of that name is meant`,
    );
  }
  const progress = new Progress(run, surroundings);
  const bytes = await withClient(run.choice, surroundings, async (client) => {
    await progress.start();
    try {
      return await client.profile(run.kind, {
        seconds: run.seconds,
        frequencyHz: run.frequencyHz,
        onBytes: (count) => progress.received(count),
      });
    } finally {
      progress.stop();
    }
  }).catch((error: unknown) => {
    throw explainMissing(error, run.kind);
  });
  const profile = decode(bytes);
  const path = run.output ?? defaultName(run.kind, new Date());
  if (path === '-') {
    await write(cli.stdout, bytes);
    if (!surroundings.quiet)
      await write(
        cli.stderr,
        renderTop(profile, { count: TOP, paint: (_, text) => text, columns: widthOf(cli.stderr) }),
      );
    return;
  }
  await writeWhole(path, bytes);
  await write(
    cli.stdout,
    `Wrote ${run.kind} profile to ${path} (${formatBytes(bytes.byteLength)})\n\n${renderTop(profile, { count: TOP, ...surroundings })}`,
  );
}

/** A profile that cannot be read is not written: it would be found out later, by somebody else. */
function decode(bytes: Uint8Array): Profile {
  try {
    return readProfile(bytes);
  } catch (error) {
    throw new GwError(`the proxy did not send a profile: ${messageOf(error)}`, {
      code: 'GW_NOT_A_PROFILE',
      cause: error,
    });
  }
}

function explainMissing(error: unknown, kind: ProfileKind): unknown {
  if (!(error instanceof GwError) || !('status' in error) || error.status !== 404) return error;
  return new GwError(`the proxy has no ${kind} profile: 404 (CPU profiles are made on Linux only)`, {
    code: 'GW_NO_PROFILE',
    cause: error,
  });
}

/** `gwctl-cpu-20260102-030405.pb.gz`, in local time. */
function defaultName(kind: ProfileKind, now: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = `${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
  return `gwctl-${kind}-${day}-${time}.pb.gz`;
}

const columns = (unit: string): readonly Column<FunctionCost>[] => [
  { title: 'FLAT', value: (row) => formatValue(row.flat, unit), align: 'right' },
  { title: 'FLAT%', value: (row) => percent(row.flatShare), align: 'right' },
  { title: 'CUM', value: (row) => formatValue(row.cumulative, unit), align: 'right' },
  { title: 'CUM%', value: (row) => percent(row.cumulativeShare), align: 'right' },
  { title: 'FUNCTION', value: (row) => row.name },
  { title: 'FILE', value: (row) => row.file },
];

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}

export interface TopOptions {
  readonly count: number;
  readonly paint: Paint;
  readonly columns: number | undefined;
}

/** The functions that cost most by themselves. */
export function renderTop(profile: Profile, { count, paint, columns: width }: TopOptions): string {
  const top = topFunctions(profile, count);
  if (top.total === 0) return 'the profile has no samples\n';
  return `top ${top.functions.length} of ${formatValue(top.total, top.measure.unit)} ${top.measure.type}\n${renderTable(columns(top.measure.unit), top.functions, { paint, width })}`;
}

export async function readProfileFile(path: string, cli: Cli): Promise<Profile> {
  if (path !== '-') {
    const bytes = await readFile(path).catch((error: unknown) => {
      throw fileError(path, error);
    });
    return readProfile(bytes);
  }
  const parts: Uint8Array[] = [];
  for await (const part of cli.stdin) parts.push(typeof part === 'string' ? Buffer.from(part) : part);
  return readProfile(Buffer.concat(parts));
}

/** On a terminal one line that counts, elsewhere one line for each phase; always stderr. */
class Progress {
  readonly #run: ProfileRun;
  readonly #cli: Cli;
  readonly #tell: Tell;
  readonly #quiet: boolean;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  constructor(run: ProfileRun, { cli, tell, quiet }: Surroundings) {
    this.#run = run;
    this.#cli = cli;
    this.#tell = tell;
    this.#quiet = quiet;
  }

  async start(): Promise<void> {
    const { seconds } = this.#run;
    if (this.#quiet) return undefined;
    if (this.#cli.stderr.isTTY !== true) {
      return this.#tell(seconds === undefined ? 'taking a heap profile' : `sampling the processor for ${seconds} s`);
    }
    const startedAt = performance.now();
    this.#timer = setInterval(() => this.#draw(Math.floor((performance.now() - startedAt) / 1000)), 250);
    this.#draw(0);
    return undefined;
  }

  received(bytes: number): void {
    this.#bytes = bytes;
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#cli.stderr.write('\r\u001B[K');
  }

  #draw(elapsed: number): void {
    const { seconds } = this.#run;
    const left = seconds === undefined ? '' : `, ${Math.max(0, seconds - elapsed)} s left`;
    const text = this.#bytes > 0 ? `received ${formatBytes(this.#bytes)}` : `sampling, ${elapsed} s${left}`;
    this.#cli.stderr.write(`\r\u001B[K${text}`);
  }
}
