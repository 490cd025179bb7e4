import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Components } from './components.ts';
import { fieldsOf, withBytes } from './form-fields.ts';
import type { BodyPlan } from './plan.ts';
import { unusable } from './problem.ts';
import type { Schemas } from './schemas.ts';

export type ReadBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'body'; readonly plan: BodyPlan; readonly schema: JsonValue }
  /** It has to be there, and cannot be written. */
  | { readonly kind: 'unwritable'; readonly types: string };

/** The first type in this order that a body may have. */
const FORMS: readonly { readonly form: BodyPlan['form']; readonly fits: (type: string) => boolean }[] = [
  { form: 'json', fits: (type) => type === 'application/json' },
  { form: 'json', fits: (type) => type.endsWith('+json') },
  { form: 'base64', fits: (type) => type === 'application/octet-stream' },
  { form: 'fields', fits: (type) => type === 'application/x-www-form-urlencoded' },
  { form: 'parts', fits: (type) => type === 'multipart/form-data' },
  { form: 'text', fits: (type) => type.startsWith('text/') && !type.includes('*') },
  { form: 'json', fits: (type) => type === '*/*' || type === 'application/*' },
  { form: 'base64', fits: (type) => /^(?:image|audio|video|application)\/[^*]+$/.test(type) },
];

export function readRequestBody(
  value: JsonValue | undefined,
  place: string,
  { components, schemas }: { readonly components: Components; readonly schemas: Schemas },
): ReadBody {
  if (value === undefined) return { kind: 'none' };
  const body = components.resolve(value, place);
  if (!isJsonObject(body.content)) throw unusable(place, '`requestBody` has no `content`');
  const required = body.required === true;
  const types = Object.entries(body.content);
  for (const { form, fits } of FORMS) {
    const found = types.find(([type]) => fits(essence(type)));
    if (found === undefined) continue;
    const [type, media] = found;
    const described = components.resolve(media, place);
    const given = described.schema ?? {};
    const contentType = form === 'json' && type.includes('*') ? 'application/json' : type;
    if (!isFieldValue(contentType)) throw unusable(place, `the content type ${JSON.stringify(type)} is none`);
    const schema = schemaFor(form, given, { body, place, schemas });
    const fields =
      form === 'fields' || form === 'parts' ? fieldsOf(schema, described.encoding) : new Map<string, never>();
    return {
      kind: 'body',
      plan: { contentType, required, form, fields },
      schema: form === 'parts' ? withBytes(schema, fields) : schema,
    };
  }
  const names = types.map(([type]) => type).join(', ');
  return required && types.length > 0 ? { kind: 'unwritable', types: names } : { kind: 'none' };
}

function schemaFor(
  form: BodyPlan['form'],
  given: JsonValue,
  { body, place, schemas }: { readonly body: JsonObject; readonly place: string; readonly schemas: Schemas },
): JsonValue {
  if (form === 'json' || form === 'fields' || form === 'parts') return schemas.inline(given, `${place}, request body`);
  const description = typeof body.description === 'string' ? { description: body.description } : {};
  return form === 'base64' ? { type: 'string', format: 'byte', ...description } : { type: 'string', ...description };
}

/** Without parameters. */
function essence(type: string): string {
  const [name = ''] = type.split(';');
  return name.trim().toLowerCase();
}

function isFieldValue(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}
