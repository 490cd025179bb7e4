import { z } from 'zod';
import { notBuiltMark } from './marks.ts';
import { root } from './root.ts';
import { layers } from './walk.ts';

/** The JSON Schema of the standalone file (draft 7, which editors know best), made from the schema that loading uses. */
export function jsonSchema(): object {
  const schema = z.toJSONSchema(root, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: out }) => {
      describeMarks(zodSchema, out);
      allowVariables(out);
    },
  });
  return { $schema: schema.$schema, title: 'gwctl configuration', ...schema };
}

/** Says in the description what is known but not built yet. */
function describeMarks(schema: z.core.$ZodType, out: z.core.JSONSchema.BaseSchema): void {
  for (const layer of layers(schema)) {
    const mark = notBuiltMark(layer);
    if (mark === undefined) continue;
    // A definition of its own says it there.
    if (layer !== schema && z.globalRegistry.get(layer)?.id !== undefined) return;
    const note =
      mark.when === undefined
        ? 'Not built in this release: refused when the file is loaded.'
        : `Not built in this release: ${mark.what}.`;
    if (out.description?.includes(note) !== true)
      out.description = out.description === undefined ? note : `${out.description} ${note}`;
    return;
  }
}

/** A dollar sign begins a variable, which an editor cannot expand: any value may hold one. */
const VARIABLE = '\\$';

function allowVariables(out: z.core.JSONSchema.BaseSchema): void {
  if (out.type === 'integer' || out.type === 'number' || out.type === 'boolean') {
    out.type = [out.type, 'string'];
    out.pattern = VARIABLE;
  } else if (typeof out.pattern === 'string') out.pattern = `${out.pattern}|${VARIABLE}`;
}
