import { messageOf } from '../../../../src/shared/errors.ts';
import type { ClientCall, McpSessions } from '../../session/contract.ts';
import { foreign } from '../../session/principal.ts';
import type { OwnedStore } from '../../session/relay/owned-sessions.ts';
import type { ThreadRelay } from '../../session/relay/thread-relay.ts';
import type { RpcAnswer, RpcMessage, RpcNotification, RpcRequest } from '../../message/message.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../../targets/contract.ts';
import { dispatch } from './dispatch.ts';
import type { SseStream, SseStreams } from './streams.ts';

/** The way of a message to a stream that another data thread has: connections are shared out among the threads. */
export interface StreamRelay {
  /** This thread. */
  readonly thread: number;
  /** Resolves to null when the message was taken there. */
  send(
    message: RpcMessage,
    call: TargetCall,
    to: { readonly thread: number; readonly id: string },
  ): Promise<TargetFailure | null>;
}

export interface Streaming {
  /** The definition of the backend. */
  readonly backend: string;
  readonly streams: SseStreams;
  readonly sessions: McpSessions;
}

/** Streams are offered to other threads like sessions, under a name of their own. */
export function streamRelay(relay: ThreadRelay, { backend, streams, sessions }: Streaming): StreamRelay {
  const place = `${backend} over server-sent events`;
  relay.offer(place, offered(streams, sessions));
  return {
    thread: relay.self.thread,
    send(message, call, { thread, id }) {
      const stream: TargetConnection | null = relay.connect(thread, { backend: place, session: id, target: '' });
      if (stream === null || thread === relay.self.thread) return Promise.resolve(forgotten);
      if (message.kind !== 'request') return stream.post(message, call);
      return new Promise((resolve) => stream.request(message, call, { onMessage() {}, onEnd: resolve }));
    },
  };
}

const forgotten: TargetFailure = { kind: 'forgotten', message: 'session not found' };

function offered(streams: SseStreams, sessions: McpSessions): OwnedStore {
  return {
    find(id, exchange) {
      const stream = streams.find(id);
      if (stream === undefined) return null;
      if (!stream.isOf(exchange)) return foreign(exchange);
      return { close() {}, leave() {}, connection: () => new OfferedStream(stream, sessions) };
    },
    hold: () => () => {},
    end: () => null,
  };
}

const nothingUnderWay: Calling = { cancel() {}, pause() {}, resume() {} };

/** A stream as other threads see it: it takes messages, and their answers go to its client. */
class OfferedStream implements TargetConnection {
  readonly state = null;
  readonly #stream: SseStream;
  readonly #sessions: McpSessions;

  constructor(stream: SseStream, sessions: McpSessions) {
    this.#stream = stream;
    this.#sessions = sessions;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    this.#take(message, call).then(
      (failure) => sink.onEnd(failure),
      (error: unknown) => sink.onEnd({ kind: 'broken', message: messageOf(error) }),
    );
    return nothingUnderWay;
  }

  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    return this.#take(message, call);
  }

  listen(_call: TargetCall, sink: CallSink): Calling {
    sink.onEnd({ kind: 'unsupported', message: 'the stream is its own' });
    return nothingUnderWay;
  }

  close(): Promise<null> {
    return Promise.resolve(null);
  }

  leave(): void {}

  async #take(message: RpcMessage, { exchange, version }: TargetCall): Promise<TargetFailure | null> {
    const call: ClientCall = { exchange, era: 'legacy', version };
    return (await dispatch(this.#stream, { message, call, sessions: this.#sessions })) ? null : forgotten;
  }
}
