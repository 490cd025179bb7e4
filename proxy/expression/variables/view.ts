import type { Segment, Variable } from '../../../src/cel/compile/host.ts';
import { ViewMap, type FieldReader, type FieldReaders } from '../../../src/cel/value/map.ts';
import type { Value } from '../../../src/cel/value/value.ts';
import type { EvalContext } from '../contract.ts';

export type Reader = FieldReader<EvalContext>;
export type Readers = FieldReaders<EvalContext>;

export interface ViewOptions {
  /** Whether the variable is there; it is null otherwise, and reads of its fields fail. */
  readonly present: (context: EvalContext) => boolean;
  /** Reads two segments at once. */
  readonly deep?: (segments: readonly [Segment, Segment]) => Reader | undefined;
  /** Names of what stands in its fields, where they are always the same. */
  readonly inner?: Readonly<Record<string, readonly string[]>>;
}

/** A variable with a fixed set of fields, each read when it is asked for. */
export function view(fields: Readers, { present, deep, inner = {} }: ViewOptions): Variable<EvalContext> {
  const guarded = (read: Reader): Reader => {
    return (context) => (present(context) ? read(context) : undefined);
  };
  return {
    fields: Object.keys(fields),
    inner,
    read: (context) => (present(context) ? new ViewMap(fields, context) : null),
    path: ([first, second]) => {
      if (first === undefined) return undefined;
      const both = second === undefined ? undefined : deep?.([first, second]);
      if (both !== undefined) return { read: guarded(both), used: 2 };
      const read = Object.hasOwn(fields, first.name) ? fields[first.name] : undefined;
      return read === undefined ? undefined : { read: guarded(read), used: 1 };
    },
  };
}

/** A variable whose first fields come from a lookup by name. */
export function lookup(
  read: (context: EvalContext) => Value,
  field: (context: EvalContext, name: string) => Value | undefined,
): Variable<EvalContext> {
  return {
    read,
    path: ([first]) => {
      if (first === undefined) return undefined;
      const { name } = first;
      return { read: (context) => field(context, name), used: 1 };
    },
  };
}
