import { Function, Label, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format';

export interface SampleSpec {
  /** Names from the root to the leaf, joined with `;`. */
  readonly stack: string;
  readonly values: readonly number[];
  readonly labels?: Readonly<Record<string, string | number>>;
}

/** Encodes a profile the way Go's runtime writes one: several sample types, no mark of the one to show. */
export function encodeProfile(
  samples: readonly SampleSpec[],
  types: readonly string[] = ['samples/count', 'cpu/nanoseconds'],
): Uint8Array {
  const strings = new StringTable();
  const functions = new Map<string, number>();
  const idOf = (name: string): number => {
    const id = functions.get(name) ?? functions.size + 1;
    functions.set(name, id);
    return id;
  };
  const valueTypes = types.map((text) => {
    const [type = '', unit = ''] = text.split('/');
    return new ValueType({ type: strings.dedup(type), unit: strings.dedup(unit) });
  });
  const encoded = samples.map(({ stack, values, labels = {} }) => {
    const label = Object.entries(labels).map(
      ([key, value]) =>
        new Label(
          typeof value === 'string'
            ? { key: strings.dedup(key), str: strings.dedup(value) }
            : { key: strings.dedup(key), num: value },
        ),
    );
    const locationId = stack === '' ? [] : stack.split(';').toReversed().map(idOf);
    return new Sample({ locationId, value: [...values], label });
  });
  const names = [...functions];
  return new Profile({
    sampleType: valueTypes,
    sample: encoded,
    location: names.map(
      ([, id]) => new Location({ id, address: id, line: [new Line({ functionId: id, line: 10 + id })] }),
    ),
    function: names.map(([name, id]) => {
      return new Function({ id, name: strings.dedup(name), systemName: 0, filename: strings.dedup(`/src/${name}.go`) });
    }),
    stringTable: strings,
    timeNanos: 1_700_000_000_000_000_000n,
    durationNanos: 30_000_000_000,
    periodType: new ValueType({ type: strings.dedup('cpu'), unit: strings.dedup('nanoseconds') }),
    period: 10_000_000,
    comment: [strings.dedup('a comment')],
  }).encode();
}
