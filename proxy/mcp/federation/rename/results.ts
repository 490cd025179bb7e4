import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import type { Naming } from '../naming.ts';
import { eachOf, inMember, relatedOut, textMember } from './meta.ts';

/** A target's result for one item in the words of clients; the same object where nothing in it has a name. */
export function resultOut(naming: Naming, target: number, method: string, result: JsonObject): JsonObject {
  if (!naming.addresses) return result;
  const change = byMethod.get(method);
  return relatedOut(naming, target, change === undefined ? result : change(naming, target, result));
}

/** Whether a result can be one of the method: targets that answer with something else are broken. */
export function compatible(method: string, result: JsonObject): boolean {
  if (result['resultType'] === 'input_required') return true;
  switch (method) {
    case 'tools/call':
      return toolResult(result);
    case 'prompts/get':
      return Array.isArray(result['messages']);
    case 'resources/read':
      return Array.isArray(result['contents']);
    case 'completion/complete':
      return isJsonObject(result['completion']);
    default:
      return true;
  }
}

/** The oldest versions have `toolResult`; a call that goes on as a task has the task instead. */
function toolResult(result: JsonObject): boolean {
  if (result['content'] !== undefined) return Array.isArray(result['content']);
  return ['structuredContent', 'toolResult', 'task', 'taskId'].some((key) => result[key] !== undefined);
}

type Change = (naming: Naming, target: number, result: JsonObject) => JsonObject;

const contents: Change = (naming, target, result) =>
  eachOf(result, 'content', (block) => blockOut(naming, target, block));

const tasks: Change = (naming, target, result) => {
  const id = (text: string): string => naming.taskOut(target, text);
  const flat = textMember(result, 'taskId', id);
  return inMember(flat, 'task', (task) => textMember(task, 'taskId', id));
};

/** A finished task carries the result of the call that it stands for. */
const taskAndContents: Change = (naming, target, result) => {
  const own = tasks(naming, target, contents(naming, target, result));
  return inMember(own, 'result', (inner) => contents(naming, target, inner));
};

const byMethod = new Map<string, Change>([
  ['tools/call', taskAndContents],
  ['tasks/get', taskAndContents],
  ['tasks/result', taskAndContents],
  ['tasks/cancel', tasks],
  ['tasks/update', tasks],
  [
    'prompts/get',
    (naming, target, result) =>
      eachOf(result, 'messages', (message) => inMember(message, 'content', (block) => blockOut(naming, target, block))),
  ],
  [
    'resources/read',
    (naming, target, result) =>
      eachOf(result, 'contents', (content) => textMember(content, 'uri', (uri) => naming.uriOut(target, uri))),
  ],
]);

/** Links in what tools and prompts say must lead where the client can go: to the gateway. */
function blockOut(naming: Naming, target: number, block: JsonObject): JsonObject {
  const address = (value: JsonObject): JsonObject => textMember(value, 'uri', (uri) => naming.uriOut(target, uri));
  if (block['type'] === 'resource_link') return address(block);
  return block['type'] === 'resource' ? inMember(block, 'resource', address) : block;
}
