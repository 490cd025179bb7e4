import type { JsonObject } from '../../../exchange/attributes.ts';
import { badRequest } from '../../failure.ts';
import { object, text } from '../../json.ts';
import { dataUrl } from '../data-url.ts';

const BY_EXTENSION: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  txt: 'text/plain',
};

/** An image, or what else clients send under that name. Throws an `LlmFailure` for what Gemini could not fetch. */
export function imagePart(part: JsonObject, path: string): JsonObject {
  const image = object(part['image_url']) ?? { url: part['image_url'] ?? '' };
  const url = text(image['url']) ?? '';
  const data = dataUrl(url);
  if (data !== undefined) return inline(data.mediaType, data.base64);
  if (!url.startsWith('gs://'))
    throw badRequest(`${path}: Gemini takes images as base64 data URLs or gs:// addresses only`);
  const told = text(image['format']) ?? text(image['mime_type']) ?? text(image['content_type']);
  const mimeType = told === undefined ? byExtension(url) : (BY_EXTENSION[told.toLowerCase()] ?? told);
  if (mimeType === undefined || !mimeType.includes('/'))
    throw badRequest(`${path}: the media type of the address is not known; name it in image_url.format`);
  return { fileData: { mimeType: known(mimeType), fileUri: url } };
}

export function audioPart(part: JsonObject): JsonObject | undefined {
  const audio = object(part['input_audio']);
  const data = text(audio?.['data']);
  return data === undefined ? undefined : inline(`audio/${text(audio?.['format']) ?? 'wav'}`, data);
}

/** Files that come with their bytes; one that is only named is at a service that Gemini cannot ask. */
export function filePart(part: JsonObject): JsonObject | undefined {
  const data = dataUrl(text(object(part['file'])?.['file_data']) ?? '');
  return data && inline(data.mediaType, data.base64);
}

function inline(mediaType: string, data: string): JsonObject {
  return { inlineData: { mimeType: known(mediaType), data } };
}

function byExtension(url: string): string | undefined {
  const name = url.split(/[?#]/, 1)[0] ?? '';
  return BY_EXTENSION[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];
}

function known(mediaType: string): string {
  return mediaType.toLowerCase() === 'image/jpg' ? 'image/jpeg' : mediaType;
}
