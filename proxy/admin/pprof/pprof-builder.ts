import type { Runtime } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Function, Line, Location, Mapping, Profile, Sample, StringTable, ValueType } from 'pprof-format';
import type { LabelInput } from 'pprof-format';

/** What is counted and in which unit, as pprof names it. */
export interface Measure {
  readonly type: string;
  readonly unit: string;
}

export interface ProfileFacts {
  /** One for each value of a sample, in order. */
  readonly measures: readonly Measure[];
  /** The type of the measure that tools show first. */
  readonly shownFirst: string;
  readonly period: { readonly measure: Measure; readonly value: number };
  /** Wall clock, milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly comments: readonly string[];
}

const ONLY_MAPPING = 1;

/** Collects samples of several threads into one pprof profile; names, functions and places are stored once. */
export class PprofBuilder {
  readonly #strings = new StringTable();
  readonly #functions = new Map<string, Function>();
  readonly #locations = new Map<string, Location>();
  readonly #samples: Sample[] = [];

  /** The id of a place: a line (1-based) of the function that `frame` names. */
  location(frame: Runtime.CallFrame, line: number): number {
    const key = `${frame.scriptId}\0${frame.url}\0${frame.functionName}\0${frame.lineNumber}\0${frame.columnNumber}\0${line}`;
    const known = this.#locations.get(key);
    if (known !== undefined) return Number(known.id);
    const id = this.#locations.size + 1;
    const lines = [new Line({ functionId: this.#function(frame), line })];
    this.#locations.set(key, new Location({ id, mappingId: ONLY_MAPPING, address: id, line: lines }));
    return id;
  }

  /** `locations` run from the leaf to the root. */
  add(locations: number[], values: number[], thread: string): void {
    const label: LabelInput = { key: this.#strings.dedup('thread'), str: this.#strings.dedup(thread) };
    this.#samples.push(new Sample({ locationId: locations, value: values, label: [label] }));
  }

  /** The profile as a gzipped pprof file. */
  async finish(facts: ProfileFacts): Promise<Uint8Array> {
    const profile = new Profile({
      sampleType: facts.measures.map((measure) => this.#valueType(measure)),
      sample: this.#samples,
      mapping: [this.#mapping()],
      location: [...this.#locations.values()],
      function: [...this.#functions.values()],
      stringTable: this.#strings,
      timeNanos: BigInt(Math.round(facts.startedAtMs)) * 1_000_000n,
      durationNanos: Math.round(facts.durationMs * 1e6),
      periodType: this.#valueType(facts.period.measure),
      period: facts.period.value,
      defaultSampleType: this.#strings.dedup(facts.shownFirst),
      comment: facts.comments.map((comment) => this.#strings.dedup(comment)),
    });
    return promisify(gzip)(await profile.encodeAsync());
  }

  #function(frame: Runtime.CallFrame): number {
    const key = `${frame.scriptId}\0${frame.url}\0${frame.functionName}\0${frame.lineNumber}\0${frame.columnNumber}`;
    const known = this.#functions.get(key);
    if (known !== undefined) return Number(known.id);
    const id = this.#functions.size + 1;
    const name = this.#strings.dedup(nameOf(frame));
    const filename = this.#strings.dedup(fileOf(frame.url));
    const startLine = Math.max(0, frame.lineNumber + 1);
    this.#functions.set(key, new Function({ id, name, systemName: name, filename, startLine }));
    return id;
  }

  #valueType(measure: Measure): ValueType {
    return new ValueType({ type: this.#strings.dedup(measure.type), unit: this.#strings.dedup(measure.unit) });
  }

  /** Names and lines are all there: without this mark the tools look for a binary to read them from. */
  #mapping(): Mapping {
    return new Mapping({
      id: ONLY_MAPPING,
      filename: this.#strings.dedup('gwctl'),
      hasFunctions: true,
      hasFilenames: true,
      hasLineNumbers: true,
    });
  }
}

/** A function without a name is called by its place, so that two of them are told apart. */
function nameOf(frame: Runtime.CallFrame): string {
  if (frame.functionName !== '') return frame.functionName;
  const file = fileOf(frame.url).split('/').at(-1) ?? '';
  return file === '' ? '(anonymous)' : `(anonymous ${file}:${frame.lineNumber + 1})`;
}

function fileOf(url: string): string {
  if (!url.startsWith('file://')) return url;
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
