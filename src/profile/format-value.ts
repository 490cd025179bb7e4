import { formatBytes } from '../shared/byte-size.ts';
import { formatDuration } from '../shared/duration.ts';

const NANOSECONDS: Readonly<Record<string, number>> = {
  nanoseconds: 1,
  microseconds: 1e3,
  milliseconds: 1e6,
  seconds: 1e9,
};

/** A value of a sample the way a person reads it: `1.25s`, `12.5 MiB`, `4096`. */
export function formatValue(value: number, unit: string): string {
  const nanoseconds = NANOSECONDS[unit];
  if (nanoseconds !== undefined) return formatDuration(Number(((value * nanoseconds) / 1e6).toPrecision(3)));
  if (unit === 'bytes') return formatBytes(value);
  return unit === '' || unit === 'count' ? String(value) : `${value} ${unit}`;
}
