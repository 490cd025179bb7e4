import type { Target } from '../contract.ts';
import { StreamableConnection } from './connection.ts';
import type { StreamableOptions } from './conversation.ts';

/** A server that is reached over streamable HTTP. */
export function streamableTarget(options: StreamableOptions): Target {
  return {
    name: options.name,
    transport: 'streamable',
    connect: (state) => new StreamableConnection(options, state),
  };
}
