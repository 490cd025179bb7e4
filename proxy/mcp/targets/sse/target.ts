import type { Target } from '../contract.ts';
import { SseConnection } from './connection.ts';
import type { SseOptions } from './stream.ts';

/** A server that is reached over HTTP with server-sent events, the transport before streamable HTTP. */
export function sseTarget(options: SseOptions): Target {
  return { name: options.name, transport: 'sse', connect: () => new SseConnection(options) };
}
