/** What stands behind every proxy: a server that spends as little as it can, so that the proxy is the one that is measured. */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { MCP_PATH, mcpAnswer } from './mcp.ts';
import { CHAT_PATH, chatAnswer, chatEvents, messageAnswer, messageEvents, paceOf } from './llm.ts';

const CHUNKS = 200;
/** The first letter of the only such method. */
const GET = 0x47;
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const JSON_BODY = JSON.stringify({
  id: 4711,
  name: 'a small answer',
  tags: ['one', 'two', 'three'],
  ok: true,
  at: 1_700_000_000,
});
const SMALL = whole('application/json', Buffer.from(JSON_BODY));
const DOWNLOAD = whole('application/octet-stream', Buffer.alloc(1024 * 1024, 'a'));
const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
);
const EVENT = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: ' word' } }] })}\n\n`;
const EVENTS = Array.from({ length: CHUNKS }, () => chunked(EVENT));
const CHAT = { whole: whole('application/json', json(chatAnswer())), events: chatEvents().map(chunked) };
const MESSAGE = { whole: whole('application/json', json(messageAnswer())), events: messageEvents().map(chunked) };

const server = createServer({ noDelay: true }, serve);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
});

function whole(type: string, body: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ]);
}

function json(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

function chunked(event: string): Buffer {
  return Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`);
}

function serve(socket: Socket): void {
  let held: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (let end = endOfRequest(held); end > 0; end = endOfRequest(held)) {
      answer(socket, held.subarray(0, end));
      held = held.subarray(end);
    }
  });
}

/** Where the first request in `held` ends, 0 when it is not complete. */
function endOfRequest(held: Buffer): number {
  const headEnd = held.indexOf(HEAD_END);
  if (headEnd < 0) return 0;
  const bodyAt = headEnd + HEAD_END.length;
  // No body, and nothing more to look for.
  if (held[0] === GET) return bodyAt;
  const head = held.toString('latin1', 0, headEnd).toLowerCase();
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length !== undefined) return held.length >= bodyAt + Number(length) ? bodyAt + Number(length) : 0;
  if (!head.includes('\r\ntransfer-encoding:')) return bodyAt;
  const last = held.indexOf(LAST_CHUNK, bodyAt);
  return last < 0 ? 0 : last + LAST_CHUNK.length;
}

const ACCEPTED = Buffer.from('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n');
const calls = new Map<string, Buffer>();

/** Calls are answered from memory: they are all the same. A stream of the session stays open, and says nothing. */
function answerServer(socket: Socket, request: Buffer): void {
  if (request[0] === GET) {
    socket.write(STREAM_HEAD);
    return;
  }
  const message = request.toString('latin1', request.indexOf(HEAD_END) + HEAD_END.length);
  let known = calls.get(message);
  if (known === undefined) {
    const answered = mcpAnswer(message);
    known = answered === undefined ? ACCEPTED : whole('application/json', json(answered));
    if (calls.size < 1000) calls.set(message, known);
  }
  socket.write(known);
}

function answer(socket: Socket, request: Buffer): void {
  const target = request.toString('latin1', 0, Math.min(128, request.indexOf(' HTTP/')));
  if (target.endsWith('/download')) socket.write(DOWNLOAD);
  else if (target.endsWith('/stream')) begin(socket, EVENTS);
  else if (target.endsWith(CHAT_PATH)) answerModel(socket, request, CHAT);
  else if (target.endsWith(MCP_PATH)) answerServer(socket, request);
  else if (target.endsWith('/messages')) answerModel(socket, request, MESSAGE);
  else socket.write(SMALL);
}

function answerModel(socket: Socket, request: Buffer, { whole: body, events }: typeof CHAT): void {
  const asked = request.toString('latin1');
  if (!asked.includes('"stream":true')) {
    socket.write(body);
    return;
  }
  const pace = paceOf(asked);
  if (pace === undefined) begin(socket, events);
  else paced(socket, events, pace);
}

/** Each event is a write of its own, so that a proxy meets them one by one. */
function begin(socket: Socket, events: readonly Buffer[]): void {
  socket.write(STREAM_HEAD);
  stream(socket, events, 0);
}

function stream(socket: Socket, events: readonly Buffer[], sent: number): void {
  const event = events[sent];
  if (socket.destroyed) return;
  if (event === undefined) {
    socket.write(LAST_CHUNK);
    return;
  }
  socket.write(event);
  setImmediate(stream, socket, events, sent + 1);
}

/** What comes before the first text leaves with it, at once. */
function paced(socket: Socket, events: readonly Buffer[], everyMs: number): void {
  let sent = 3;
  socket.write(Buffer.concat([STREAM_HEAD, ...events.slice(0, sent)]));
  const timer = setInterval(() => {
    const event = events[sent++];
    if (event !== undefined && !socket.destroyed) {
      socket.write(event);
      return;
    }
    clearInterval(timer);
    if (!socket.destroyed) socket.write(LAST_CHUNK);
  }, everyMs);
}
