import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts';
import { clean } from '../terminal/text.ts';
import type { Column } from './table.ts';

export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

/** What people look for in a list of tools. */
export const toolColumns: readonly Column<ListedTool>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'ARGUMENTS', value: ({ inputSchema }) => argumentsText(inputSchema) },
  { title: 'DESCRIPTION', value: ({ title, description }) => firstLine(description ?? title ?? ''), cut: 'end' },
];

export interface ListedPrompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments?: readonly { readonly name: string; readonly required?: boolean | undefined }[] | undefined;
}

export const promptColumns: readonly Column<ListedPrompt>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'ARGUMENTS', value: (prompt) => neededFirst((prompt.arguments ?? []).map(argumentText)) },
  { title: 'DESCRIPTION', value: ({ title, description }) => firstLine(description ?? title ?? ''), cut: 'end' },
];

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
}

export const resourceColumns: readonly Column<ListedResource>[] = [
  { title: 'URI', value: ({ uri }) => uri },
  { title: 'NAME', value: ({ name, title }) => firstLine(title ?? name), cut: 'end' },
  { title: 'TYPE', value: ({ mimeType }) => mimeType ?? '-' },
  { title: 'DESCRIPTION', value: ({ description }) => firstLine(description ?? ''), cut: 'end' },
];

/** `a b [c]`: those in brackets may be left out; `a.b` is a field of an object. */
function argumentsText(schema: unknown): string {
  return neededFirst(namesOf(schema, '', true));
}

function neededFirst(shown: readonly string[]): string {
  return shown.length === 0
    ? '-'
    : shown.toSorted((a, b) => Number(a.startsWith('[')) - Number(b.startsWith('['))).join(' ');
}

function argumentText({ name, required }: { readonly name: string; readonly required?: boolean | undefined }): string {
  return required === true ? name : `[${name}]`;
}

function namesOf(schema: unknown, before: string, isNeeded: boolean): string[] {
  // `as`: whatever a server sent, read with care.
  const { properties, required } = (schema ?? {}) as { readonly properties?: unknown; readonly required?: unknown };
  const needed: readonly unknown[] = isNeeded && Array.isArray(required) ? required : [];
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).flatMap(([name, inner]) => {
    const fields = before === '' ? namesOf(inner, `${name}.`, needed.includes(name)) : [];
    if (fields.length > 0) return fields;
    return [needed.includes(name) ? `${before}${name}` : `[${before}${name}]`];
  });
}

function firstLine(text: string): string {
  return clean(text.trim().split('\n', 1)[0] ?? '');
}

/** Contents of a result or a message, for people: texts as they are, everything else by what it is. */
export function contentText(contents: readonly JsonValue[]): string {
  return contents.map((content) => `${oneContent(content)}\n`).join('');
}

function oneContent(content: JsonValue): string {
  if (!isJsonObject(content)) return '';
  const { type, text, mimeType, data, uri, resource } = content;
  if (type === 'text' && typeof text === 'string') return text.replace(/\n$/, '');
  if (type === 'resource' && isJsonObject(resource)) return resourceText(resource);
  if (type === 'resource_link') return `[${String(uri)}]`;
  if (typeof data === 'string') return `[${String(mimeType ?? type)}, ${base64Bytes(data)} bytes]`;
  return JSON.stringify(content);
}

/** What a resource holds. */
export function resourceText({ text, blob, uri, mimeType }: JsonObject): string {
  if (typeof text === 'string') return text.replace(/\n$/, '');
  if (typeof blob === 'string') return `[${String(uri)}, ${String(mimeType ?? 'binary')}, ${base64Bytes(blob)} bytes]`;
  return `[${String(uri)}]`;
}

function base64Bytes(text: string): number {
  return Buffer.byteLength(text, 'base64');
}
