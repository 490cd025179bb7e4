import { gunzipSync, constants } from 'node:zlib';
import { framesAsEvents } from '../../src/chat/aws-frames.ts';

/** More than this of a body is not laid out on a screen. */
const MAX_SHOWN = 64 * 1024;
const HEX_PREVIEW = 256;

/** A recorded body as a person wants to see it: JSON as a value, text as text, anything else as hex. */
export function decodeBody(base64: string): unknown {
  const bytes = inflate(Buffer.from(base64, 'base64'));
  const text = utf8(bytes) ?? framesAsEvents(bytes);
  if (text === undefined) return hexPreview(bytes);
  if (text.length > MAX_SHOWN) return `${text.slice(0, MAX_SHOWN)}\n… ${text.length - MAX_SHOWN} more characters`;
  return parseJson(text) ?? text;
}

/** Whether a string is base64 as bodies are recorded. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/** A gzip body is opened as far as it was recorded. */
export function inflate(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 4 * 1024 * 1024 });
  } catch {
    /* Not gzip after all, or too large to open: the bytes themselves are shown. */
    return bytes;
  }
}

/** The text in bytes of which the end may be missing; undefined when they are not text. */
export function utf8(bytes: Buffer): string | undefined {
  try {
    /* A body that was cut may end inside a character; `stream` leaves that part out. */
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hexPreview(bytes: Buffer): string {
  const rows: string[] = [`${bytes.length} bytes, not text`];
  for (let at = 0; at < Math.min(bytes.length, HEX_PREVIEW); at += 16) {
    const part = bytes.subarray(at, Math.min(at + 16, HEX_PREVIEW));
    const hex = part.toString('hex').replaceAll(/../g, '$& ').padEnd(48);
    rows.push(
      `${at.toString(16).padStart(4, '0')}  ${hex} ${part.toString('latin1').replaceAll(/[^\x20-\x7e]/g, '.')}`,
    );
  }
  if (bytes.length > HEX_PREVIEW) rows.push(`… ${bytes.length - HEX_PREVIEW} more bytes`);
  return rows.join('\n');
}
