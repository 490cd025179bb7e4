import type { ClientCall, McpSession } from '../../session/contract.ts';
import type { EventStream } from '../event-stream.ts';

/** A client with the older transport: its session lasts as long as its stream. */
export interface SseStream {
  readonly id: string;
  readonly session: McpSession;
  readonly events: EventStream;
  /** The request that opened the stream. */
  readonly opening: ClientCall;
}

/** The open streams of one MCP backend in one data thread, by the id that messages to them carry. */
export class SseStreams {
  readonly #streams = new Map<string, SseStream>();

  get size(): number {
    return this.#streams.size;
  }

  add(stream: SseStream): void {
    this.#streams.set(stream.id, stream);
  }

  delete(id: string): void {
    this.#streams.delete(id);
  }

  find(id: string): SseStream | undefined {
    return this.#streams.get(id);
  }
}
