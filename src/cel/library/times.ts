import type { FunctionDef } from '../compile/host.ts';
import { modulo } from '../value/time.ts';
import { CelError, Duration, failure, noOverload, Timestamp, type Result, type Value } from '../value/value.ts';
import { method, slow } from './define.ts';

const DAY_MS = 86_400_000;

/** Wall-clock parts of an instant, held in a date whose UTC fields are the local ones. */
type Part = (local: Date) => number;

const parts: Readonly<Record<string, Part>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDayOfYear: (local) => Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY_MS),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDate: (local) => local.getUTCDate(),
  getDayOfWeek: (local) => local.getUTCDay(),
};

const clockParts: Readonly<Record<string, Part>> = {
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
  getMilliseconds: (local) => local.getUTCMilliseconds(),
};

const NANOS_PER: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
};

/** Parts of timestamps, in UTC or a time zone; hours and below of durations too. */
export const timeFunctions: readonly FunctionDef[] = [
  ...Object.entries(parts).map(([name, part]) =>
    slow(
      60,
      method(name, (value, zone) => partOf(name, part, [value, zone]), [1, 2]),
    ),
  ),
  ...Object.entries(clockParts).map(([name, part]) =>
    slow(
      60,
      method(
        name,
        (value, zone) =>
          value instanceof Duration ? durationPart(name, value, zone) : partOf(name, part, [value, zone]),
        [1, 2],
      ),
    ),
  ),
];

/** All of a duration in that unit, but only the milliseconds below a second. */
function durationPart(name: string, value: Duration, zone: Value | undefined): Result {
  if (zone !== undefined) return noOverload(name, value, zone);
  const unit = NANOS_PER[name];
  return Number(unit === undefined ? (value.nanos % 1_000_000_000n) / 1_000_000n : value.nanos / unit);
}

function partOf(name: string, part: Part, [value, zone]: readonly [Value | undefined, Value | undefined]): Result {
  if (!(value instanceof Timestamp)) return noOverload(name, value ?? null);
  const ms = Number((value.nanos - modulo(value.nanos, 1_000_000n)) / 1_000_000n);
  if (zone === undefined) return part(new Date(ms));
  if (typeof zone !== 'string') return noOverload(name, value, zone);
  const offset = offsetMs(zone, ms);
  return offset instanceof CelError ? offset : part(new Date(ms + offset));
}

/** `+05:30`, `-08:00`, `02:00`, or a name of the zone database. */
function offsetMs(zone: string, ms: number): number | CelError {
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return (fixed[1] === '-' ? -minutes : minutes) * 60_000;
  }
  if (zone === 'UTC' || zone === '' || zone === 'Z') return 0;
  try {
    return namedOffsetMs(zone, ms);
  } catch {
    return failure(`unknown time zone ${JSON.stringify(zone.slice(0, 64))}`);
  }
}

function namedOffsetMs(zone: string, ms: number): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const fields = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const year = fields['era'] === 'BC' ? 1 - Number(fields['year']) : Number(fields['year']);
  const local = new Date(0);
  local.setUTCFullYear(year, Number(fields['month']) - 1, Number(fields['day']));
  local.setUTCHours(Number(fields['hour']), Number(fields['minute']), Number(fields['second']));
  return local.getTime() - Math.floor(ms / 1000) * 1000;
}
