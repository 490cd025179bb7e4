import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { RequestId, RpcMessage, RpcRequest } from '../../../proxy/mcp/message/message.ts';
import type { CallSink, Calling, Target, TargetConnection } from '../../../proxy/mcp/targets/contract.ts';
import { fromWire, toWire } from './wire-json.ts';

/** What the SDK's servers of either generation of its API have in common. */
export interface Connectable {
  connect(transport: Transport): Promise<void>;
}

/** A target whose conversations are with real servers in this process, one for each. */
export function sdkTarget(name: string, server: () => Connectable): Target {
  return { name, transport: 'streamable', connect: () => new SdkConnection(server()) };
}

/** The server's end of the wire. */
class Wire implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  readonly #send: (message: RpcMessage, related: RequestId | undefined) => void;

  constructor(send: (message: RpcMessage, related: RequestId | undefined) => void) {
    this.#send = send;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#send(fromWire(message), options?.relatedRequestId);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}

/** Messages that belong to a request come with it, others on the stream of the server. */
class SdkConnection implements TargetConnection {
  readonly state = null;
  readonly #wire = new Wire((message, related) => this.#toGateway(message, related));
  readonly #calls = new Map<RequestId, CallSink>();
  readonly #streams = new Set<CallSink>();
  readonly #ready: Promise<void>;

  constructor(server: Connectable) {
    this.#ready = server.connect(this.#wire);
  }

  leave(): void {
    void this.close();
  }

  async close(): Promise<null> {
    await this.#wire.close();
    return null;
  }

  request(message: RpcRequest, _call: unknown, sink: CallSink): Calling {
    this.#calls.set(message.id, sink);
    this.#toServer(message);
    return { cancel: () => this.#cancel(message.id), pause() {}, resume() {} };
  }

  async post(message: RpcMessage): Promise<null> {
    this.#toServer(message);
    return null;
  }

  listen(_call: unknown, sink: CallSink): Calling {
    this.#streams.add(sink);
    return { cancel: () => this.#streams.delete(sink), pause() {}, resume() {} };
  }

  #toServer(message: RpcMessage): void {
    // The SDK validates what it gets.
    void this.#ready.then(() => this.#wire.onmessage?.(toWire(message) as JSONRPCMessage));
  }

  #toGateway(message: RpcMessage, related: RequestId | undefined): void {
    if (message.kind === 'result' || message.kind === 'error') {
      const sink = this.#calls.get(message.id ?? '');
      this.#calls.delete(message.id ?? '');
      sink?.onMessage(message);
      return sink?.onEnd(null);
    }
    const call = related === undefined ? undefined : this.#calls.get(related);
    if (call !== undefined) return call.onMessage(message);
    for (const stream of this.#streams) stream.onMessage(message);
  }

  #cancel(id: RequestId): void {
    if (!this.#calls.delete(id)) return;
    this.#toServer({ kind: 'notification', method: 'notifications/cancelled', params: { requestId: id } });
  }
}
