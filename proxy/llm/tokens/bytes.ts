import { parseObject } from '../json.ts';
import type { RouteType } from '../route-type.ts';
import { messageTexts } from './texts.ts';

/** Bytes of the texts of a request, instructions among them, without anything that is no text. */
export function textBytes(body: Uint8Array, type: RouteType): number {
  try {
    const fields = parseObject(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
    const texts = fields === undefined ? [] : messageTexts(fields, type).flat();
    return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  } catch (error) {
    // Nested too deeply to be walked.
    if (error instanceof RangeError) return body.byteLength;
    throw error;
  }
}
