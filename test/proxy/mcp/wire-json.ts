import type { RpcMessage } from '../../../proxy/mcp/message/message.ts';
import { parseMessage } from '../../../proxy/mcp/message/parse.ts';
import { writeMessage } from '../../../proxy/mcp/message/write.ts';

/** A message of the SDK as the gateway has it, over a wire: a copy. */
export function fromWire(wire: unknown): RpcMessage {
  const parsed = parseMessage(JSON.stringify(wire));
  if (parsed.kind === 'invalid') throw new Error(`${parsed.error.message}: ${JSON.stringify(wire)}`);
  return parsed.message;
}

/** The other way. */
export function toWire(message: RpcMessage): object {
  return JSON.parse(writeMessage(message));
}
