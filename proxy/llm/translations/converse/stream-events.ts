import type { JsonObject } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';
import type { SafeNames } from './safe-names.ts';

/** One event of a stream. `block` is the index of the block that it belongs to. */
export type ConverseEvent =
  | { readonly kind: 'start' }
  | { readonly kind: 'tool'; readonly block: number; readonly id: string; readonly name: string }
  | { readonly kind: 'text'; readonly block: number; readonly text: string }
  | { readonly kind: 'input'; readonly block: number; readonly json: string }
  | { readonly kind: 'reasoning'; readonly block: number; readonly text: string }
  | { readonly kind: 'signature'; readonly block: number; readonly signature: string }
  | { readonly kind: 'redacted'; readonly block: number; readonly data: string }
  | { readonly kind: 'close'; readonly block: number }
  | { readonly kind: 'stop'; readonly reason: string }
  | { readonly kind: 'usage'; readonly usage: JsonObject };

/** Null for what says nothing. `name` is the event's type. */
export function converseEvent(name: string | null, data: JsonObject, names: SafeNames): ConverseEvent | null {
  const block = number(data['contentBlockIndex']) ?? 0;
  switch (name) {
    case 'messageStart':
      return { kind: 'start' };
    case 'contentBlockStart': {
      const tool = object(object(data['start'])?.['toolUse']);
      if (tool === undefined) return null;
      return { kind: 'tool', block, id: text(tool['toolUseId']) ?? '', name: names.restored(text(tool['name']) ?? '') };
    }
    case 'contentBlockDelta':
      return delta(block, object(data['delta']) ?? {});
    case 'contentBlockStop':
      return { kind: 'close', block };
    case 'messageStop':
      return { kind: 'stop', reason: text(data['stopReason']) ?? '' };
    case 'metadata':
      return { kind: 'usage', usage: object(data['usage']) ?? {} };
    default:
      return null;
  }
}

function delta(block: number, said: JsonObject): ConverseEvent | null {
  const plain = text(said['text']);
  if (plain !== undefined) return plain === '' ? null : { kind: 'text', block, text: plain };
  const json = text(object(said['toolUse'])?.['input']);
  if (json !== undefined) return json === '' ? null : { kind: 'input', block, json };
  const reasoning = object(said['reasoningContent']);
  const thought = text(reasoning?.['text']);
  if (thought !== undefined) return thought === '' ? null : { kind: 'reasoning', block, text: thought };
  const signature = text(reasoning?.['signature']);
  if (signature !== undefined) return signature === '' ? null : { kind: 'signature', block, signature };
  const data = text(reasoning?.['redactedContent']);
  return data === undefined ? null : { kind: 'redacted', block, data };
}
