import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { RequestId } from '../../../proxy/mcp/message/message.ts';
import type { ClientCall, McpSession } from '../../../proxy/mcp/session/contract.ts';
import type { CallSink, Calling } from '../../../proxy/mcp/targets/contract.ts';
import { errorOf } from '../../../proxy/mcp/targets/errors.ts';
import { untraced } from '../exchange/build.ts';
import { fromWire, toWire } from './wire-json.ts';

/** One request of a legacy client without any headers. */
export function legacyCall(): ClientCall {
  return { exchange: untraced(), era: 'legacy', version: null };
}

/** What the SDK's client talks over to a session in this process. */
export class SessionTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  readonly #session: McpSession;
  #stream: Calling | null = null;

  constructor(session: McpSession) {
    this.#session = session;
  }

  async start(): Promise<void> {}

  async send(wire: JSONRPCMessage): Promise<void> {
    const message = fromWire(wire);
    if (message.kind === 'request') {
      this.#session.request(message, legacyCall(), this.#sink(message.id));
      return;
    }
    const failure = await this.#session.post(message, legacyCall());
    if (failure !== null) throw new Error(JSON.stringify(failure));
    const begun = message.kind === 'notification' && message.method === 'notifications/initialized';
    if (begun) this.#stream = this.#session.listen(legacyCall(), this.#sink(null));
  }

  async close(): Promise<void> {
    this.#stream?.cancel();
    await this.#session.close(legacyCall());
    this.onclose?.();
  }

  /** Of a request by its id. */
  #sink(id: RequestId | null): CallSink {
    return {
      // The SDK validates what it gets.
      onMessage: (message) => this.onmessage?.(toWire(message) as JSONRPCMessage),
      onEnd: (failure) => {
        if (failure === null || id === null) return;
        this.onmessage?.(toWire({ kind: 'error', id, error: errorOf(failure) }) as JSONRPCMessage);
      },
    };
  }
}
