import { ProfileError } from './profile-error.ts';
import type { Frame, Measure, Profile, Sample } from './profile.ts';
import { bytesOf, fieldsOf, numberOf, numbersOf } from './wire.ts';
import type { Field } from './wire.ts';

interface RawFunction {
  name: number;
  systemName: number;
  file: number;
}

interface RawLine {
  functionId: number;
  line: number;
}

interface RawLocation {
  address: number;
  lines: RawLine[];
}

interface RawProfile {
  sampleTypes: Uint8Array[];
  samples: Uint8Array[];
  locations: Map<number, RawLocation>;
  functions: Map<number, RawFunction>;
  strings: string[];
  comments: number[];
  numbers: Map<number, number>;
  periodType: Uint8Array | undefined;
}

/** Decodes an uncompressed profile (github.com/google/pprof, proto/profile.proto). */
export function decodeProfile(bytes: Uint8Array): Profile {
  const raw = collect(bytes);
  if (raw.sampleTypes.length === 0)
    throw new ProfileError('GW_PROFILE_INVALID', 'not a pprof profile: it has no sample types');
  const strings = new Strings(raw.strings);
  const sampleTypes = raw.sampleTypes.map((message) => measure(message, strings));
  const frames = framesByLocation(raw, strings);
  return {
    sampleTypes,
    shownFirst: shownFirst(sampleTypes, strings.at(raw.numbers.get(14) ?? 0)),
    samples: raw.samples.map((message) => sample(message, { frames, strings, values: sampleTypes.length })),
    startedAtMs: (raw.numbers.get(9) ?? 0) / 1e6,
    durationNanos: raw.numbers.get(10) ?? 0,
    periodType: raw.periodType === undefined ? { type: '', unit: '' } : measure(raw.periodType, strings),
    period: raw.numbers.get(12) ?? 0,
    comments: raw.comments.map((index) => strings.at(index)),
  };
}

function collect(bytes: Uint8Array): RawProfile {
  const raw: RawProfile = {
    sampleTypes: [],
    samples: [],
    locations: new Map(),
    functions: new Map(),
    strings: [],
    comments: [],
    numbers: new Map(),
    periodType: undefined,
  };
  const text = new TextDecoder();
  for (const field of fieldsOf(bytes)) collectField(raw, field, text);
  return raw;
}

/** The field numbers of profile.proto's `Profile`; mappings (3) are not needed to show functions. */
function collectField(raw: RawProfile, { number, value }: Field, text: TextDecoder): void {
  switch (number) {
    case 1:
      raw.sampleTypes.push(bytesOf(value));
      return;
    case 2:
      raw.samples.push(bytesOf(value));
      return;
    case 4:
      addLocation(raw, bytesOf(value));
      return;
    case 5:
      addFunction(raw, bytesOf(value));
      return;
    case 6:
      raw.strings.push(text.decode(bytesOf(value)));
      return;
    case 11:
      raw.periodType = bytesOf(value);
      return;
    case 13:
      raw.comments.push(...numbersOf(value));
      return;
    case 9:
    case 10:
    case 12:
    case 14:
      raw.numbers.set(number, numberOf(value));
      return;
    default:
  }
}

function addLocation(raw: RawProfile, message: Uint8Array): void {
  let id = 0;
  const location: RawLocation = { address: 0, lines: [] };
  for (const { number, value } of fieldsOf(message)) {
    if (number === 1) id = numberOf(value);
    else if (number === 3) location.address = numberOf(value);
    else if (number === 4) location.lines.push(line(bytesOf(value)));
  }
  raw.locations.set(id, location);
}

function line(message: Uint8Array): RawLine {
  const decoded: RawLine = { functionId: 0, line: 0 };
  for (const { number, value } of fieldsOf(message)) {
    if (number === 1) decoded.functionId = numberOf(value);
    else if (number === 2) decoded.line = numberOf(value);
  }
  return decoded;
}

function addFunction(raw: RawProfile, message: Uint8Array): void {
  let id = 0;
  const decoded: RawFunction = { name: 0, systemName: 0, file: 0 };
  for (const { number, value } of fieldsOf(message)) {
    if (number === 1) id = numberOf(value);
    else if (number === 2) decoded.name = numberOf(value);
    else if (number === 3) decoded.systemName = numberOf(value);
    else if (number === 4) decoded.file = numberOf(value);
  }
  raw.functions.set(id, decoded);
}

/** The string table; a reference past its end is what a file that was cut between two parts looks like. */
class Strings {
  readonly #table: readonly string[];

  constructor(table: readonly string[]) {
    this.#table = table;
  }

  at(index: number): string {
    if (index === 0) return '';
    const text = this.#table[index];
    if (text === undefined) throw new ProfileError('GW_PROFILE_CUT', 'the profile is cut off: names are missing');
    return text;
  }
}

function framesByLocation(raw: RawProfile, strings: Strings): ReadonlyMap<number, readonly Frame[]> {
  const frames = new Map<number, readonly Frame[]>();
  for (const [id, location] of raw.locations) {
    const named = location.lines.map((at) => frame(at, raw.functions.get(at.functionId), strings));
    frames.set(id, named.length > 0 ? named : [{ name: `0x${location.address.toString(16)}`, file: '', line: 0 }]);
  }
  return frames;
}

function frame(at: RawLine, found: RawFunction | undefined, strings: Strings): Frame {
  if (found === undefined) throw new ProfileError('GW_PROFILE_CUT', 'the profile is cut off: functions are missing');
  const name = strings.at(found.name) || strings.at(found.systemName) || '(unnamed)';
  return { name, file: strings.at(found.file), line: at.line };
}

function measure(message: Uint8Array, strings: Strings): Measure {
  let type = 0;
  let unit = 0;
  for (const { number, value } of fieldsOf(message)) {
    if (number === 1) type = numberOf(value);
    else if (number === 2) unit = numberOf(value);
  }
  return { type: strings.at(type), unit: strings.at(unit) };
}

/** The marked type; without a mark the last one, as the standard tool does. */
function shownFirst(sampleTypes: readonly Measure[], marked: string): number {
  const index = marked === '' ? -1 : sampleTypes.findIndex((measureOf) => measureOf.type === marked);
  return index >= 0 ? index : sampleTypes.length - 1;
}

interface SampleContext {
  readonly frames: ReadonlyMap<number, readonly Frame[]>;
  readonly strings: Strings;
  /** How many values each sample has. */
  readonly values: number;
}

function sample(message: Uint8Array, context: SampleContext): Sample {
  const frames: Frame[] = [];
  const values: number[] = [];
  const labels: (readonly [string, string | number])[] = [];
  for (const { number, value } of fieldsOf(message)) {
    if (number === 1) for (const id of numbersOf(value)) frames.push(...framesAt(id, context.frames));
    else if (number === 2) values.push(...numbersOf(value));
    else if (number === 3) labels.push(label(bytesOf(value), context.strings));
  }
  if (values.length !== context.values) {
    throw new ProfileError(
      'GW_PROFILE_INVALID',
      `not a pprof profile: a sample has ${values.length} values, not ${context.values}`,
    );
  }
  return { frames, values, labels: Object.fromEntries(labels) };
}

function framesAt(id: number, frames: ReadonlyMap<number, readonly Frame[]>): readonly Frame[] {
  const found = frames.get(id);
  if (found === undefined)
    throw new ProfileError('GW_PROFILE_CUT', 'the profile is cut off: places in the code are missing');
  return found;
}

function label(message: Uint8Array, strings: Strings): readonly [string, string | number] {
  let key = 0;
  let text = 0;
  let count = 0;
  for (const { number, value } of fieldsOf(message)) {
    if (number === 1) key = numberOf(value);
    else if (number === 2) text = numberOf(value);
    else if (number === 3) count = numberOf(value);
  }
  return [strings.at(key), text === 0 ? count : strings.at(text)];
}
