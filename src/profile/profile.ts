/** A place in the code: innermost inlined call first when several share an address. */
export interface Frame {
  readonly name: string;
  /** Empty when the profile does not tell. */
  readonly file: string;
  /** 1-based; 0 when the profile does not tell. */
  readonly line: number;
}

export interface Measure {
  readonly type: string;
  readonly unit: string;
}

export interface Sample {
  /** From the leaf to the root. */
  readonly frames: readonly Frame[];
  /** One for each of the profile's sample types. */
  readonly values: readonly number[];
  readonly labels: Readonly<Record<string, string | number>>;
}

/** A decoded pprof profile with its references resolved. */
export interface Profile {
  readonly sampleTypes: readonly Measure[];
  /** Index of the sample type that is meant to be shown when none is asked for. */
  readonly shownFirst: number;
  readonly samples: readonly Sample[];
  /** Wall clock in milliseconds since 1970; 0 when the profile does not tell. */
  readonly startedAtMs: number;
  readonly durationNanos: number;
  readonly periodType: Measure;
  readonly period: number;
  readonly comments: readonly string[];
}
