import { randomUUID } from 'node:crypto';

import type { LastingState } from '../../../policy/contract.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { ClientCall, McpSession, McpSessions, NoSession } from '../../session/contract.ts';
import { principalOf } from '../../session/principal.ts';
import { EventStream } from '../event-stream.ts';

/** A client with the older transport: its session lasts as long as its stream. */
export class SseStream {
  readonly id: string;
  readonly events: EventStream;
  /** The request that opened the stream. */
  readonly opening: ClientCall;
  readonly #begun: McpSession;
  readonly #principal: string | null;
  #underWay = 0;
  #leaving = false;
  #release: (() => void) | null = null;

  constructor(id: string, parts: { begun: McpSession; opening: ClientCall; gone: (stream: SseStream) => void }) {
    this.id = id;
    this.#begun = parts.begun;
    this.opening = parts.opening;
    this.#principal = principalOf(parts.opening.exchange);
    this.events = new EventStream(() => {
      this.#release?.();
      parts.gone(this);
    });
  }

  /** Whether whoever asks is who has opened it. */
  isOf(exchange: Exchange): boolean {
    return this.#principal === null || this.#principal === principalOf(exchange);
  }

  /**
   * The session for one more message. Once it has an id it is kept among the others: whoever asks for it there uses it, and
   * gets the rules of the newest configuration. Null when it is not there any more, and neither is the stream then.
   */
  session(sessions: McpSessions, call: ClientCall): McpSession | null | Promise<McpSession | null> {
    const { id } = this.#begun;
    if (id === null) return this.#begun;
    const found = sessions.find(id, call);
    return found instanceof Promise ? found.then((session) => this.#usable(session)) : this.#usable(found);
  }

  #usable(session: McpSession | NoSession): McpSession | null {
    if (typeof session !== 'string') {
      // Its client is there, though it may say nothing.
      if (!this.events.over) this.#release ??= session.hold?.() ?? null;
      return session;
    }
    if (session === 'foreign') return null;
    this.events.close();
    return null;
  }

  /** A request of the client waits for its answer on the stream. */
  began(): void {
    this.#underWay += 1;
  }

  finished(): void {
    this.#underWay -= 1;
    if (this.#leaving) this.leave();
  }

  /** Ends when nothing is under way. */
  leave(): void {
    this.#leaving = true;
    if (this.#underWay === 0) this.events.close();
  }
}

/** The open streams of one MCP backend in one data thread, by the id that messages to them carry. */
export class SseStreams implements LastingState {
  readonly #streams = new Map<string, SseStream>();

  get size(): number {
    return this.#streams.size;
  }

  open(id: string, begun: McpSession, parts: { sessions: McpSessions; opening: ClientCall }): SseStream {
    const { opening, sessions } = parts;
    const gone = (stream: SseStream): void => {
      this.#streams.delete(id);
      void end(stream, sessions);
    };
    const stream = new SseStream(id, { begun, opening, gone });
    this.#streams.set(id, stream);
    return stream;
  }

  find(id: string): SseStream | undefined {
    return this.#streams.get(id);
  }

  /** Messages to the streams would not be found any more: clients have to open others. */
  retired(): void {
    for (const stream of this.#streams.values()) stream.leave();
  }

  close(): Promise<void> {
    for (const { events } of this.#streams.values()) events.close();
    return Promise.resolve();
  }
}

/** The session ends with the stream whatever targets say to it, and nobody is there to be told. */
async function end(stream: SseStream, sessions: McpSessions): Promise<void> {
  try {
    const session = await stream.session(sessions, stream.opening);
    await session?.close(stream.opening);
  } catch {
    // What cannot be ended goes when it has lain idle for long enough.
  }
}

/** The last digits of an id name the data thread that has the stream. */
const THREAD_DIGITS = 3;

/** A UUID, most of whose digits are random. */
export function streamIdOf(thread: number): string {
  const digits = thread.toString(16).padStart(THREAD_DIGITS, '0');
  return digits.length > THREAD_DIGITS ? randomUUID() : `${randomUUID().slice(0, -THREAD_DIGITS)}${digits}`;
}

const STREAM_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Null for what is no id. */
export function threadOf(id: string): number | null {
  return STREAM_ID.test(id) ? Number.parseInt(id.slice(-THREAD_DIGITS), 16) : null;
}
