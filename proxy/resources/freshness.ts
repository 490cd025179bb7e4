const DEFAULT_MS = 15 * 60_000;
const FLOOR_MS = 60_000;
const CEILING_MS = 24 * 3_600_000;

export type ReadHeader = (name: string) => string | undefined;

/**
 * How long an answer is good for, milliseconds: `Cache-Control: max-age` less the age that it already has (RFC 9111
 * section 4.2), else `Expires`, else `untoldMs`; a minute at least, a day at most.
 */
export function freshForMs(header: ReadHeader, nowMs: number, untoldMs = DEFAULT_MS): number {
  const told = toldMs(header, nowMs);
  return Math.min(CEILING_MS, Math.max(FLOOR_MS, told ?? untoldMs));
}

function toldMs(header: ReadHeader, nowMs: number): number | undefined {
  const directives = (header('cache-control') ?? '').toLowerCase().split(',');
  const names = directives.map((directive) => directive.trim());
  const maxAge = names.find((directive) => directive.startsWith('max-age='));
  const uncached = names.some((directive) => directive === 'no-cache' || directive === 'no-store');
  if (maxAge !== undefined && !uncached) {
    const seconds = wholeSeconds(maxAge.slice('max-age='.length).replaceAll('"', ''));
    if (seconds !== undefined) return (seconds - (wholeSeconds(header('age') ?? '') ?? 0)) * 1000;
  }
  const expires = header('expires');
  if (expires === undefined) return undefined;
  const at = Date.parse(expires);
  // Anything that is no date has expired (RFC 9111 section 5.3).
  return Number.isNaN(at) ? 0 : at - nowMs;
}

function wholeSeconds(text: string): number | undefined {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}
