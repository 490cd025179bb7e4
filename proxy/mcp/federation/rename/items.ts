import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import type { Naming } from '../naming.ts';
import type { ListRoute } from '../route.ts';
import { inMember, textMember, withMember } from './meta.ts';

const flatUi = 'ui/resourceUri';

/** An item of a target's list under the name that clients use. */
export function itemOut(naming: Naming, target: number, list: ListRoute, item: JsonObject): JsonObject {
  if (!naming.addresses) return item;
  switch (list.member) {
    case 'tools':
      return uiOut(naming, target, nameOut(naming, target, item));
    case 'prompts':
      return nameOut(naming, target, item);
    case 'resources':
    case 'resourceTemplates':
      return textMember(item, list.key, (uri) => naming.uriOut(target, uri));
    case 'tasks':
      return textMember(item, 'taskId', (id) => naming.taskOut(target, id));
  }
}

/** The addresses of a tool's user interface that it has, at either place. */
export function uiOf(tool: JsonObject): string | null {
  const meta = tool['_meta'];
  if (!isJsonObject(meta)) return null;
  const nested = isJsonObject(meta['ui']) ? meta['ui']['resourceUri'] : undefined;
  const address = nested ?? meta[flatUi];
  return typeof address === 'string' ? address : null;
}

/** The tool without the addresses of its user interface, and without what is empty then. */
export function withoutUi(tool: JsonObject): JsonObject {
  const meta = tool['_meta'];
  if (!isJsonObject(meta)) return tool;
  const { [flatUi]: _flat, ui, ...others } = meta;
  const rest = isJsonObject(ui) ? without(ui, 'resourceUri') : ui;
  const keepUi = rest !== undefined && !(isJsonObject(rest) && Object.keys(rest).length === 0);
  const left: JsonObject = keepUi ? { ...others, ui: rest } : others;
  return Object.keys(left).length === 0 ? without(tool, '_meta') : { ...tool, _meta: left };
}

function nameOut(naming: Naming, target: number, item: JsonObject): JsonObject {
  return naming.names ? textMember(item, 'name', (name) => naming.nameOut(target, name)) : item;
}

function uiOut(naming: Naming, target: number, tool: JsonObject): JsonObject {
  const meta = tool['_meta'];
  if (!isJsonObject(meta)) return tool;
  const address = (uri: string): string => naming.uriOut(target, uri);
  const nested = inMember(meta, 'ui', (ui) => textMember(ui, 'resourceUri', address));
  return withMember(tool, '_meta', textMember(nested, flatUi, address));
}

function without(value: JsonObject, key: string): JsonObject {
  const { [key]: _dropped, ...rest } = value;
  return rest;
}
