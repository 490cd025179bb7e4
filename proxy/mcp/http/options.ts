import type { Clock } from '../../exchange/wait.ts';
import type { StreamRelay } from './sse/relay.ts';
import type { SseStreams } from './sse/streams.ts';

/** What the client's side of one MCP backend needs to know. */
export interface McpHttpOptions {
  /** Of a message, before and after decoding. */
  readonly limitBytes: number;
  readonly clock: Clock;
  readonly dnsRebindingProtection: boolean;
  /** Of clients with the older transport; one for each backend, as long as its sessions. */
  readonly streams: SseStreams;
  /** To the streams of other data threads; none where there is one thread. */
  readonly relay?: StreamRelay | undefined;
}
