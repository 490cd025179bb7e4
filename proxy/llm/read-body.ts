import { systemCodeOf } from '../../src/shared/errors.ts';
import { BufferedBody } from '../exchange/body.ts';
import { collect } from '../exchange/collect.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../exchange/attributes.ts';
import type { HttpRequest } from '../exchange/message.ts';
import { bodyRefusal, Patience } from '../exchange/patience.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { Clock } from '../exchange/wait.ts';
import { badRequest, LlmFailure } from './failure.ts';
import { parse } from './json.ts';
import { codingOf, decoded } from '../exchange/coding/content-coding.ts';

export interface ReadOptions {
  readonly limitBytes: number;
  readonly clock: Clock;
}

/** What was read of a request; a refusal when its client is to blame. */
export type Read =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly why: Unreadable };

export type Unreadable =
  | 'tooLarge'
  /** In no coding that is known. */
  | 'encoding'
  /** Not in the coding that it names. */
  | 'decoding'
  /** It did not come whole. */
  | 'reading';

/**
 * Reads the body whole, decodes it and leaves it decoded on the request, so that nothing has to know how it came. A body of
 * more than the limit, before or after decoding, is 413; a coding that is not known is 415. What is left names one model.
 */
export async function readBody(exchange: Exchange, { limitBytes, clock }: ReadOptions): Promise<Read> {
  const { request } = exchange;
  const patience = new Patience(exchange, clock);
  const collected = await collect(request.body, limitBytes, patience);
  patience.release();
  if (collected.kind === 'failed')
    return { kind: 'refused', refusal: bodyRefusal(collected.error, patience), why: 'reading' };
  if (collected.kind === 'overflow') {
    collected.rest.cancel();
    return refused(tooLarge, 'tooLarge');
  }
  request.body = collected.body;
  const coding = codingOf(request.headers);
  if (coding === null) return settled(request, collected.body.bytes);
  if (coding === undefined) return refused(new LlmFailure('encoding', 'unsupported content-encoding'), 'encoding');
  try {
    const bytes = await decoded(collected.body.bytes, coding, limitBytes);
    request.headers.remove('content-encoding');
    request.headers.remove('content-length');
    request.body = new BufferedBody(bytes);
    return settled(request, bytes);
  } catch (error) {
    const overflow = systemCodeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    return overflow
      ? refused(tooLarge, 'tooLarge')
      : refused(badRequest(`request body is not ${coding.join(', ')}`), 'decoding');
  }
}

const tooLarge = new LlmFailure('tooLarge', 'request body exceeded the buffer limit');

function refused(failure: LlmFailure, why: Unreadable): Read {
  return { kind: 'refused', refusal: failure.refusal('request'), why };
}

function settled(request: HttpRequest, body: Uint8Array): Read {
  try {
    return { kind: 'bytes', bytes: withOneModel(request, body) };
  } catch (error) {
    if (error instanceof LlmFailure) return refused(error, 'reading');
    throw error;
  }
}

/** Throws an `LlmFailure` for what is no JSON object. */
export function jsonBody(bytes: Uint8Array): JsonObject {
  const value = parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  if (value === undefined) throw badRequest('request body is not valid JSON');
  if (!isJsonObject(value)) throw badRequest('request body must be a JSON object');
  return value;
}

/**
 * Another reader might find another model in a body than the gateway, which takes the last: the name may stand there twice,
 * or be spelled with escapes. Such a body is written anew. Throws an `LlmFailure` for what cannot be.
 */
function withOneModel(request: HttpRequest, body: Uint8Array): Uint8Array {
  if (!isAmbiguous(body)) return body;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const read = parse(bytes.toString('utf8'));
  if (read === undefined) return body;
  const written = Buffer.from(stringified(read));
  request.body = new BufferedBody(written);
  request.headers.remove('content-length');
  return written;
}

function isAmbiguous(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const first = bytes.indexOf('"model"', 0, 'latin1');
  // The letters of `model` are U+0064 to U+006F.
  return bytes.indexOf('"model"', first + 1, 'latin1') > first || bytes.includes('\\u006', 0, 'latin1');
}

function stringified(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw badRequest('request body is nested too deeply');
  }
}
