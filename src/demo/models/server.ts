import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { SentEvent, Vendor } from './contract.ts';
import { replyTo } from './reply.ts';

const FIRST_MS = 80;
const BETWEEN_MS = 25;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** A service of one vendor's models; the first of the formats that knows the path answers. */
export function modelServer(
  ...formats: readonly [Vendor, ...Vendor[]]
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    request.on('end', () => {
      const body = parsed(Buffer.concat(chunks).toString());
      const path = (request.url ?? '/').replace(/\?.*$/s, '');
      const vendor = formats.find((format) => format.read(path, body ?? {}) !== undefined) ?? formats[0];
      if (size > MAX_BODY_BYTES) refuse(response, vendor, { status: 413, message: 'the request is too large' });
      else answer(vendor, request, { response, path, body });
    });
  };
}

function answer(
  vendor: Vendor,
  request: IncomingMessage,
  {
    response,
    path,
    body,
  }: { readonly response: ServerResponse; readonly path: string; readonly body: JsonObject | undefined },
): void {
  const refused = (status: number, message: string): void => refuse(response, vendor, { status, message });
  if (vendor.keyOf(request) !== vendor.key) return refused(401, 'the key is missing or wrong');
  if (body === undefined) return refused(400, 'the body is no JSON object');
  const asked = vendor.read(path, body);
  if (asked === undefined || request.method !== 'POST') return refused(404, `there is nothing at ${path}`);
  const reply = replyTo(asked);
  if (reply.kind === 'fail') return refused(reply.status, reply.message);
  if (!asked.streaming) {
    later(response, () => sendJson(response, 200, vendor.whole(asked, reply)));
    return undefined;
  }
  const events = vendor.events(asked, reply);
  const cut = reply.kind === 'say' && reply.cut;
  return stream(response, cut ? events.slice(0, Math.ceil(events.length / 2)) : events, cut);
}

function refuse(
  response: ServerResponse,
  vendor: Vendor,
  { status, message }: { readonly status: number; readonly message: string },
): void {
  if (status === 429) response.setHeader('retry-after', '2');
  sendJson(response, status, vendor.error(status, message));
}

function later(response: ServerResponse, step: () => void): void {
  const timer = setTimeout(step, FIRST_MS);
  response.on('close', () => clearTimeout(timer));
}

/** One event after the other; `cut` ends it with a connection that breaks. */
function stream(response: ServerResponse, events: readonly SentEvent[], cut: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  let sent = 0;
  const next = (): void => {
    const event = events[sent];
    sent += 1;
    if (event !== undefined) {
      response.write(eventText(event));
      timer = setTimeout(next, BETWEEN_MS);
    } else if (cut) response.destroy();
    else response.end();
  };
  let timer = setTimeout(next, FIRST_MS);
  response.on('close', () => clearTimeout(timer));
}

function eventText({ name, data }: SentEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // A client that sends no JSON is told so.
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
