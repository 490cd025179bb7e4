const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/**
 * Reads a Go-style duration (`1h30m`, `300ms`, `1.5s`, `0`) as milliseconds.
 * Returns undefined for anything else: no unit, negative, empty, or trailing text.
 */
export function parseDurationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length === 0 || text.length > 64) return undefined;
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text);
    if (match === null) return undefined;
    total += Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN);
  }
  return Number.isFinite(total) ? total : undefined;
}

/** Writes milliseconds the way Go prints a duration: `361µs`, `1.2ms`, `3.34s`, `1m30s`, `2h0m0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const sign = ms < 0 ? '-' : '';
  const abs = Math.abs(ms);
  if (abs < 1e-3) return `${sign}${trim(abs * 1e6, 0)}ns`;
  if (abs < 1) return `${sign}${trim(abs * 1e3, 3)}µs`;
  if (abs < 1000) return `${sign}${trim(abs, 3)}ms`;
  const seconds = abs / 1000;
  if (seconds < 60) return `${sign}${trim(seconds, 3)}s`;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${trim(seconds % 60, 3)}s`;
  return hours > 0 ? `${sign}${hours}h${minutes}m${rest}` : `${sign}${minutes}m${rest}`;
}

function trim(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
