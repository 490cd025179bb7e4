import type { JsonObject } from '../../../../src/shared/json.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { Answered, AnsweredCall } from './result.ts';

/** The first version, which knows no sounds. */
const WITHOUT_SOUND = '2024-11-05';
const strict = new TextDecoder('utf-8', { fatal: true });

/** What is seen, heard or kept rather than read, as content of a result; null for text. */
export function mediaBlock({ headers, bytes }: Answered, { target, version }: AnsweredCall): JsonObject | null {
  if (bytes.byteLength === 0) return null;
  const { type } = typeOf(headers);
  const kind = kindOf(type, bytes);
  if (kind === 'text') return null;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  const mimeType = type === '' ? 'application/octet-stream' : type;
  if (kind === 'blob' || (kind === 'audio' && version === WITHOUT_SOUND))
    return { type: 'resource', resource: { uri: `openapi://${target}`, mimeType, blob: data } };
  return { type: kind, data, mimeType };
}

/** In the characters that it says it is written in. */
export function textIn(headers: Headers, bytes: Uint8Array): string {
  return decoderOf(typeOf(headers).charset).decode(bytes);
}

function kindOf(type: string, bytes: Uint8Array): 'text' | 'image' | 'audio' | 'blob' {
  if (/^text\/|[/+](?:json|xml)$/.test(type)) return 'text';
  if (type.startsWith('image/')) return 'image';
  if (type.startsWith('audio/')) return 'audio';
  return isText(bytes) ? 'text' : 'blob';
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function typeOf(headers: Headers): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  return { type: type.trim(), charset: charset?.slice('charset='.length).replaceAll('"', '') ?? 'utf-8' };
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
