import type { JsonObject } from '../../../src/shared/json.ts';
import { VERSION_META } from '../../../proxy/mcp/message/meta.ts';
import type { RpcMessage, RpcRequest } from '../../../proxy/mcp/message/message.ts';
import type { CallSink, Calling, Target, TargetConnection } from '../../../proxy/mcp/targets/contract.ts';
import { fromWire, toWire } from './wire-json.ts';

/** The SDK's handler of a modern server. */
export interface Fetching {
  fetch(request: Request): Promise<Response>;
}

/** A target whose server takes requests as `fetch` makes them, in this process. */
export function fetchTarget(name: string, server: Fetching): Target {
  return { name, transport: 'streamable', connect: () => new FetchConnection(server) };
}

class FetchConnection implements TargetConnection {
  readonly state = null;
  readonly #server: Fetching;

  constructor(server: Fetching) {
    this.#server = server;
  }

  request(message: RpcRequest, _call: unknown, sink: CallSink): Calling {
    const controller = new AbortController();
    this.#exchange(message, controller.signal, (said) => sink.onMessage(said)).then(
      () => sink.onEnd(null),
      (error: unknown) => sink.onEnd({ kind: 'broken', message: String(error) }),
    );
    return { cancel: () => controller.abort(), pause() {}, resume() {} };
  }

  async post(): Promise<null> {
    return null;
  }

  listen(_call: unknown, sink: CallSink): Calling {
    sink.onEnd({ kind: 'unsupported', message: 'no stream' });
    return { cancel() {}, pause() {}, resume() {} };
  }

  leave(): void {
    void this.close();
  }

  async close(): Promise<null> {
    return null;
  }

  async #exchange(message: RpcRequest, signal: AbortSignal, hear: (said: RpcMessage) => void): Promise<void> {
    const response = await this.#server.fetch(posted(message, signal));
    if (response.headers.get('content-type')?.startsWith('application/json') === true)
      return hear(fromWire(await response.json()));
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + chunk).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = event.split('\n').find((line) => line.startsWith('data: '));
        if (data !== undefined) hear(fromWire(JSON.parse(data.slice('data: '.length))));
      }
    }
  }
}

function posted(message: RpcRequest, signal: AbortSignal): Request {
  const { method, params = {} } = message;
  const name = params['name'] ?? params['uri'];
  return new Request('http://server.test/mcp', {
    method: 'POST',
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': String((params['_meta'] as JsonObject | undefined)?.[VERSION_META]),
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: JSON.stringify(toWire(message)),
  });
}
