/** How long and how finely a CPU profile is taken. */
export interface CpuParameters {
  readonly seconds: number;
  /** Looks at each thread's stack in a second. */
  readonly frequency: number;
}

const LIMITS = {
  seconds: { least: 1, most: 300, default: 10 },
  frequency: { least: 1, most: 1000, default: 100 },
} as const;

/** Reads the query of `/debug/pprof/profile`; a value that is not allowed is refused with a message, never replaced. */
export function cpuParameters(query: URLSearchParams): CpuParameters | { readonly refusal: string } {
  const seconds = wholeNumber(query, 'seconds');
  if (typeof seconds === 'string') return { refusal: seconds };
  const frequency = wholeNumber(query, 'frequency');
  if (typeof frequency === 'string') return { refusal: frequency };
  return { seconds, frequency };
}

function wholeNumber(query: URLSearchParams, name: keyof typeof LIMITS): number | string {
  const { least, most, default: usual } = LIMITS[name];
  const given = query.getAll(name);
  const text = given[0];
  if (text === undefined) return usual;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (given.length === 1 && value >= least && value <= most) return value;
  return `${name} must be one whole number from ${least} to ${most}, not ${JSON.stringify(given.join(' and ').slice(0, 40))}`;
}
