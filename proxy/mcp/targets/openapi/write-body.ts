import { randomUUID } from 'node:crypto';

import type { JsonObject, JsonValue } from '../../../../src/shared/json.ts';
import type { BodyPlan, FieldPlan } from './plan.ts';
import type { Misfit } from './request.ts';
import { hasMembers, innerText, textOf } from './values.ts';
import { pair, queryPairs } from './write-query.ts';

export interface WrittenBody {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** Null where there is none. */
export function writeBody(plan: BodyPlan, body: JsonValue | undefined): WrittenBody | null | Misfit {
  const { form, required, contentType, fields } = plan;
  if (body === undefined) return required ? misfit('`body` is missing') : null;
  if (form === 'json') return { bytes: Buffer.from(JSON.stringify(body)), contentType };
  if (form === 'fields' || form === 'parts') {
    if (!hasMembers(body)) return misfit('`body` is no object');
    return form === 'fields' ? writeFields(body, plan) : writeParts(body, fields);
  }
  if (typeof body !== 'string') return misfit('`body` is no text');
  if (form === 'text') return { bytes: Buffer.from(body), contentType };
  const bytes = fromBase64(body);
  return bytes === null ? misfit('`body` is not in base64') : { bytes, contentType };
}

function writeFields(body: JsonObject, { fields, contentType }: BodyPlan): WrittenBody {
  const pairs = Object.entries(body).flatMap(([name, value]) => {
    const field = fields.get(name);
    const style = field?.style ?? null;
    if (style !== null) return value === null ? [] : queryPairs(style, value);
    return valuesOf(value, field).map((each) => pair(name, innerText(each)));
  });
  return { bytes: Buffer.from(pairs.join('&')), contentType };
}

/** RFC 7578, with names escaped as browsers do. */
function writeParts(body: JsonObject, fields: ReadonlyMap<string, FieldPlan>): WrittenBody | Misfit {
  const boundary = `gw-${randomUUID()}`;
  const chunks: Buffer[] = [];
  for (const [name, value] of Object.entries(body)) {
    const field = fields.get(name);
    for (const each of valuesOf(value, field)) {
      const content = contentOf(each, field);
      if (content === null) return misfit(`\`${name}\` in \`body\` is not in base64`);
      chunks.push(Buffer.from(`--${boundary}\r\n${partHead(name, each, field)}\r\n\r\n`), content, Buffer.from('\r\n'));
    }
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return { bytes: Buffer.concat(chunks), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** Lists are several fields of one name, unless they are to be one value. */
function valuesOf(value: JsonValue, field: FieldPlan | undefined): readonly JsonValue[] {
  if (value === null) return [];
  return Array.isArray(value) && !isJson(field?.contentType) ? value : [value];
}

function partHead(name: string, value: JsonValue, field: FieldPlan | undefined): string {
  const quoted = `"${escaped(name)}"`;
  const bytes = field?.bytes === true;
  const type =
    field?.contentType ?? (bytes ? 'application/octet-stream' : textOf(value) === null ? 'application/json' : null);
  const disposition = `Content-Disposition: form-data; name=${quoted}${bytes ? `; filename=${quoted}` : ''}`;
  return type === null ? disposition : `${disposition}\r\nContent-Type: ${type}`;
}

function contentOf(value: JsonValue, field: FieldPlan | undefined): Buffer | null {
  if (field?.bytes === true) return typeof value === 'string' ? fromBase64(value) : null;
  return Buffer.from(isJson(field?.contentType) ? JSON.stringify(value) : innerText(value));
}

function isJson(type: string | null | undefined): boolean {
  return /[/+]json$/.test(type ?? '');
}

function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function fromBase64(text: string): Buffer | null {
  // The end is taken off first: an expression that looks for it too takes time by the square of the length.
  return /^[A-Za-z0-9+/_\s-]*={0,2}$/.test(text.trimEnd()) ? Buffer.from(text, 'base64') : null;
}

function misfit(problem: string): Misfit {
  return { kind: 'misfit', problem };
}
