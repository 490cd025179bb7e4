import { Duration, failure, Timestamp, type CelError } from './value.ts';

const SECOND = 1_000_000_000n;
/** What 64 bits of nanoseconds hold, about 292 years. */
const MAX_DURATION = 2n ** 63n - 1n;
const MIN_TIMESTAMP = -62_135_596_800n * SECOND;
const MAX_TIMESTAMP = 253_402_300_799n * SECOND + 999_999_999n;

export function durationOf(nanos: bigint): Duration | CelError {
  return nanos > MAX_DURATION || nanos < -MAX_DURATION ? failure('duration out of range') : new Duration(nanos);
}

export function timestampOf(nanos: bigint): Timestamp | CelError {
  return nanos > MAX_TIMESTAMP || nanos < MIN_TIMESTAMP ? failure('timestamp out of range') : new Timestamp(nanos);
}

export function durationOfMs(ms: number): Duration {
  return new Duration(BigInt(Math.round(ms * 1e6)));
}

/** Microseconds are kept, as far as the clock has them. */
export function timestampOfMs(ms: number): Timestamp {
  return new Timestamp(BigInt(Math.round(ms * 1000)) * 1000n);
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};

/** `-1h30m1.5s` */
export function parseDuration(text: string): Duration | CelError {
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return new Duration(0n);
  if (text.length > 128 || !/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(body)) {
    return failure(`not a duration: ${JSON.stringify(text.slice(0, 64))}`);
  }
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = UNIT_NANOS[unit] ?? 0n;
    nanos += BigInt(whole === '' ? 0 : whole) * scale;
    if (fraction !== '') nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return durationOf(text.startsWith('-') ? -nanos : nanos);
}

/** Seconds with up to nine digits behind the point. */
export function formatDuration({ nanos }: Duration): string {
  const sign = nanos < 0n ? '-' : '';
  const abs = nanos < 0n ? -nanos : nanos;
  return `${sign}${abs / SECOND}${fractionOf(abs % SECOND)}s`;
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

export function parseTimestamp(text: string): Timestamp | CelError {
  const match = text.length > 64 ? null : RFC3339.exec(text);
  if (match === null) return failure(`not a timestamp in RFC 3339 form: ${JSON.stringify(text.slice(0, 64))}`);
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour = 0, offsetMinute = 0] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const real =
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(offsetHour) < 24 &&
    Number(offsetMinute) < 60;
  if (!real) return failure(`not a date of the calendar: ${JSON.stringify(text)}`);
  const offset = (sign === '-' ? -60 : 60) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const seconds = date.getTime() / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  return timestampOf(BigInt(seconds) * SECOND + BigInt(fraction.padEnd(9, '0')));
}

/** RFC 3339 in UTC, the fraction as short as it can be. */
export function formatTimestamp({ nanos }: Timestamp): string {
  const fraction = modulo(nanos, SECOND);
  const text = new Date(Number((nanos - fraction) / 1_000_000n)).toISOString();
  return `${text.slice(0, 19)}${fractionOf(fraction)}Z`;
}

function fractionOf(nanos: bigint): string {
  return nanos === 0n ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}

/** Never negative. */
export function modulo(value: bigint, by: bigint): bigint {
  const rest = value % by;
  return rest < 0n ? rest + by : rest;
}
