import { z } from 'zod';
import { notBuiltMark } from '../../src/config/schema/marks.ts';
import { root } from '../../src/config/schema/root.ts';
import { layers, unwrap } from '../../src/config/schema/walk.ts';

export interface SchemaKeys {
  /** Names of keys that have an effect, wherever they stand. */
  readonly built: ReadonlySet<string>;
  /** What is refused, in the words of the error. */
  readonly refused: ReadonlySet<string>;
}

/** Every key that the schema of the file knows, without what stands below a refused one. */
export function schemaKeys(): SchemaKeys {
  const built = new Set<string>();
  const refused = new Set<string>();
  const seen = new Set<z.core.$ZodType>();
  visit(root);
  return { built, refused };

  function visit(schema: z.core.$ZodType): void {
    for (const layer of layers(schema)) {
      const mark = notBuiltMark(layer);
      if (mark === undefined) continue;
      refused.add(mark.what);
      if (mark.when === undefined) return;
    }
    const bare = unwrap(schema);
    if (seen.has(bare)) return;
    seen.add(bare);
    if (bare instanceof z.ZodObject) for (const [key, inner] of Object.entries(bare.shape)) property(key, inner);
    if (bare instanceof z.ZodRecord) visit(bare.def.valueType);
    if (bare instanceof z.ZodArray) visit(bare.def.element);
    if (bare instanceof z.ZodUnion) for (const option of bare.def.options) visit(option);
  }

  function property(key: string, schema: z.core.$ZodType): void {
    const gone = [...layers(schema)].some((layer) => {
      const mark = notBuiltMark(layer);
      return mark !== undefined && mark.when === undefined;
    });
    if (!gone) built.add(key);
    visit(schema);
  }
}
