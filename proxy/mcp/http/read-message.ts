import { isUtf8 } from 'node:buffer';

import { systemCodeOf } from '../../../src/shared/errors.ts';
import { collect } from '../../exchange/collect.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { bodyRefusal, Patience } from '../../exchange/patience.ts';
import { refuse, type Refusal } from '../../exchange/refusal.ts';
import { codingOf, decoded } from '../../exchange/coding/content-coding.ts';
import { rpcCodes } from '../message/codes.ts';
import type { RpcMessage } from '../message/message.ts';
import { parseMessage, type Unparsed } from '../message/parse.ts';
import { mcpRefusal } from './refusals.ts';
import type { McpHttpOptions } from './options.ts';

/** A message, or one that is understood but for its parameters. */
export type Read = { readonly kind: 'message'; readonly message: RpcMessage } | Unparsed | Refused;

export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

/** Reads the body of a request as one message. */
export async function readMessage(exchange: Exchange, { limitBytes, clock }: McpHttpOptions): Promise<Read> {
  const coding = codingOf(exchange.request.headers);
  if (coding === undefined) return refused(mcpRefusal(415, 'unsupported content-encoding'));
  const patience = new Patience(exchange, clock);
  const collected = await collect(exchange.request.body, limitBytes, patience);
  patience.release();
  switch (collected.kind) {
    case 'failed':
      return refused(bodyRefusal(collected.error, patience));
    case 'overflow':
      collected.rest.cancel();
      return refused(tooLarge);
    case 'whole': {
      exchange.request.body = collected.body;
      const { bytes } = collected.body;
      const plain = coding === null ? bytes : await decode(bytes, coding, limitBytes);
      return plain instanceof Uint8Array ? parse(plain) : refused(plain);
    }
  }
}

const tooLarge = refuse(413, 'MCP', 'request body exceeded the buffer limit');

async function decode(bytes: Uint8Array, coding: readonly string[], limitBytes: number): Promise<Uint8Array | Refusal> {
  try {
    return await decoded(bytes, coding, limitBytes);
  } catch (error) {
    const overflow = systemCodeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    return overflow ? tooLarge : mcpRefusal(400, `request body is not ${coding.join(', ')}`);
  }
}

function parse(bytes: Uint8Array): Read {
  if (!isUtf8(bytes)) return refused(mcpRefusal(400, 'message is not UTF-8'));
  const parsed = parseMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  if (parsed.kind === 'message' || parsed.error.code === rpcCodes.invalidParams) return parsed;
  return refused(mcpRefusal(400, parsed.error.message));
}

function refused(refusal: Refusal): Refused {
  return { kind: 'refused', refusal };
}
