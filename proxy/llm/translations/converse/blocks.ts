import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { badRequest } from '../../failure.ts';
import { compact, parse } from '../../json.ts';
import { dataUrl } from '../data-url.ts';

/** Blank texts are refused by Bedrock, and say nothing. */
export function textBlocks(value: JsonValue | undefined): readonly JsonObject[] {
  return typeof value === 'string' && value.trim() !== '' ? [{ text: value }] : [];
}

/** Throws an `LlmFailure` for what is no image that comes with its bytes. */
export function imageOfUrl(url: string, path: string): JsonObject {
  const data = dataUrl(url);
  if (data === undefined || !data.mediaType.startsWith('image/'))
    throw badRequest(`${path}: Bedrock takes images as base64 data URLs only`);
  return imageBlock(data.mediaType, data.base64);
}

export function imageBlock(mediaType: string, base64: string): JsonObject {
  const kind = mediaType.slice(mediaType.indexOf('/') + 1).toLowerCase();
  return { image: { format: kind === 'jpg' ? 'jpeg' : kind, source: { bytes: base64 } } };
}

export function toolUse(id: string, name: string, input: JsonValue | undefined): JsonObject {
  return { toolUse: { toolUseId: id, name, input: isJsonObject(input) ? input : {} } };
}

/** The input of a tool, of the text that a model wrote; undefined for what is no object. */
export function inputOf(source: string): JsonObject | undefined {
  if (source.trim() === '') return {};
  const value = parse(source);
  return isJsonObject(value) ? value : undefined;
}

export function toolResult(id: string, content: readonly JsonObject[], failed?: boolean): JsonObject {
  return {
    toolResult: compact({
      toolUseId: id,
      content,
      status: failed === undefined ? undefined : failed ? 'error' : 'success',
    }),
  };
}

/** Bedrock takes only reasoning that is signed. */
export function reasoningBlock(text: string, signature: string): JsonObject {
  return { reasoningContent: { reasoningText: { text, signature } } };
}
