import type { Frame, Measure, Profile } from './profile.ts';

/** What one function cost: `flat` by itself, `cumulative` with everything it called; shares are of the whole, 0 to 1. */
export interface FunctionCost {
  readonly name: string;
  readonly file: string;
  readonly flat: number;
  readonly cumulative: number;
  readonly flatShare: number;
  readonly cumulativeShare: number;
}

export interface TopFunctions {
  readonly measure: Measure;
  readonly total: number;
  readonly functions: readonly FunctionCost[];
}

/** The `count` functions with the highest cost of their own, in the sample type at `index` (the one shown first by default). */
export function topFunctions(profile: Profile, count: number, index: number = profile.shownFirst): TopFunctions {
  const costs = new Map<string, { frame: Frame; flat: number; cumulative: number }>();
  let total = 0;
  for (const sample of profile.samples) {
    const value = sample.values[index] ?? 0;
    total += value;
    const seen = new Set<string>();
    sample.frames.forEach((frame, depth) => {
      const key = functionKey(frame);
      const cost = costs.get(key) ?? { frame, flat: 0, cumulative: 0 };
      if (depth === 0) cost.flat += value;
      // A function that calls itself is in the stack twice and costs once.
      if (!seen.has(key)) cost.cumulative += value;
      seen.add(key);
      costs.set(key, cost);
    });
  }
  const functions = [...costs.values()]
    .sort((a, b) => b.flat - a.flat || b.cumulative - a.cumulative || (a.frame.name < b.frame.name ? -1 : 1))
    .slice(0, count)
    .map(({ frame, flat, cumulative }) => ({
      name: frame.name,
      file: frame.file,
      flat,
      cumulative,
      flatShare: share(flat, total),
      cumulativeShare: share(cumulative, total),
    }));
  return { measure: profile.sampleTypes[index] ?? { type: '', unit: '' }, total, functions };
}

/** Tells functions apart whatever line of them is meant. */
export function functionKey(frame: Frame): string {
  return `${frame.name}\0${frame.file}`;
}

function share(part: number, total: number): number {
  return total === 0 ? 0 : part / total;
}
