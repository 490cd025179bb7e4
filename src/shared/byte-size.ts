const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** Reads a Kubernetes quantity of bytes (`2Mi`, `1500k`, `2097152`); undefined when it is not one or not a whole number. */
export function parseByteSize(input: string | number): number | undefined {
  const text = String(input);
  if (text.length > 32) return undefined;
  const match = /^(\d+(?:\.\d+)?)(|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)$/.exec(text);
  if (match === null) return undefined;
  const bytes = Number(match[1]) * (FACTORS[match[2] ?? ''] ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Writes bytes for people: `812 B`, `1.4 KiB`, `2.0 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
