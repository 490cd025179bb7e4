import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { isObject, object, objects, text } from './call.ts';
import { scripted } from './script.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** A realtime session: items of text are collected, and answered when the client asks for a response. */
export function realtimeSession(request: IncomingMessage, socket: Duplex): void {
  const url = new URL(request.url ?? '/', 'http://sim');
  const key = request.headers['sec-websocket-key'];
  const model = url.searchParams.get('model');
  if (
    !url.pathname.endsWith('/realtime') ||
    key === undefined ||
    model === null ||
    request.headers.authorization === undefined
  ) {
    const status = request.headers.authorization === undefined ? '401 Unauthorized' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    return;
  }
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  new Session(socket, model).begin();
}

class Session {
  readonly #socket: Duplex;
  readonly #model: string;
  #held: Buffer = Buffer.alloc(0);
  #prompt = '';

  constructor(socket: Duplex, model: string) {
    this.#socket = socket;
    this.#model = model;
  }

  begin(): void {
    const socket = this.#socket;
    const model = this.#model;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#data(chunk));
    socket.on('end', () => socket.end());
    this.#send({ type: 'session.created', event_id: 'event_0', session: { type: 'realtime', id: 'sess_sim', model } });
  }

  #data(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk]);
    for (;;) {
      const frame = clientFrame(this.#held);
      if (frame === null) return;
      this.#held = this.#held.subarray(frame.size);
      if (frame.opcode === 8) {
        this.#socket.end(Buffer.from([0x88, 0]));
        return;
      }
      if (frame.opcode === 9)
        this.#socket.write(Buffer.concat([Buffer.from([0x8a, frame.payload.byteLength]), frame.payload]));
      if (frame.opcode === 1) this.#event(JSON.parse(frame.payload.toString('utf8')));
    }
  }

  #event(event: unknown): void {
    if (!isObject(event)) return;
    switch (event['type']) {
      case 'session.update':
        return this.#send({
          type: 'session.updated',
          event_id: 'event_1',
          session: { model: this.#model, ...object(event['session']) },
        });
      case 'conversation.item.create': {
        const parts = objects(object(event['item'])['content']);
        this.#prompt = parts.map((part) => text(part['text'])).join('\n');
        return this.#send({ type: 'conversation.item.added', event_id: 'event_2', item: event['item'] });
      }
      case 'response.create':
        return this.#respond();
      case 'response.cancel':
        return this.#send({ type: 'response.cancelled', event_id: 'event_9' });
      default:
        this.#send({
          type: 'error',
          event_id: 'event_9',
          error: { type: 'invalid_request_error', message: `unknown event ${text(event['type'])}` },
        });
    }
  }

  #respond(): void {
    const asked = { prompt: this.#prompt, toolResults: [], images: 0 };
    const { script, counted } = scripted(asked);
    const { input, output, cached } = counted;
    const at = { event_id: 'event_3', response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 };
    this.#send({ type: 'response.created', event_id: 'event_3', response: { id: 'resp_1', status: 'in_progress' } });
    for (const delta of script.pieces) this.#send({ type: 'response.output_text.delta', ...at, delta });
    this.#send({ type: 'response.output_text.done', ...at, text: script.pieces.join('') });
    const usage = {
      total_tokens: input + output,
      input_tokens: input,
      output_tokens: output,
      input_token_details: { text_tokens: input, audio_tokens: 0, image_tokens: 0, cached_tokens: cached },
      output_token_details: { text_tokens: output, audio_tokens: 0 },
    };
    this.#send({ type: 'response.done', event_id: 'event_4', response: { id: 'resp_1', status: 'completed', usage } });
  }

  #send(event: unknown): void {
    const payload = Buffer.from(JSON.stringify(event));
    const size = payload.byteLength;
    const head = size < 126 ? Buffer.from([0x81, size]) : Buffer.from([0x81, 126, size >> 8, size & 0xff]);
    this.#socket.write(Buffer.concat([head, payload]));
  }
}

/** One whole frame of a client, whose payload is masked; null while it is not there. */
function clientFrame(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | null {
  if (bytes.byteLength < 2) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const head = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.byteLength < head + 4) return null;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const size = head + 4 + length;
  if (bytes.byteLength < size) return null;
  const mask = bytes.subarray(head, head + 4);
  const payload = Buffer.from(bytes.subarray(head + 4, size).map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload, size };
}
