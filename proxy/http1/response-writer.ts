import { STATUS_CODES } from 'node:http';

import type { Headers } from '../exchange/headers.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { OutgoingFraming } from './outgoing.ts';

/** What the client's request allows the answer to be. */
export interface ResponseContext {
  readonly method: string;
  readonly version: 'HTTP/1.0' | 'HTTP/1.1';
  readonly keepAlive: boolean;
  readonly preserveCase: boolean;
}

/** RFC 9110 date, computed once a second. */
export class DateHeader {
  #second = -1;
  #text = '';

  value(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toUTCString();
    }
    return this.#text;
  }
}

/** How the body of this response is delimited for this client (RFC 9112 section 6.3). */
export function outgoingFraming(response: HttpResponse, context: ResponseContext): OutgoingFraming {
  const { status } = response;
  if (context.method === 'HEAD' || status === 204 || status === 304) return 'none';
  if (response.body.length !== null) return 'length';
  return context.version === 'HTTP/1.1' ? 'chunked' : 'close';
}

/** The head of a response, with its empty line. Framing and connection fields are this function's own. */
export function responseHead(
  response: HttpResponse,
  framing: OutgoingFraming,
  context: ResponseContext,
  date: DateHeader,
): string {
  const { status, headers, body } = response;
  let head = statusLine(status);
  const { names, values } = headers;
  const ownLength = framing !== 'none' || status === 204;
  let dated = false;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    if (isConnectionField(name) || (ownLength && name === 'content-length')) continue;
    if (name === 'date') dated = true;
    head += `${context.preserveCase ? headers.spelling(i) : name}: ${values[i]}\r\n`;
  }
  if (!dated) head += `date: ${date.value()}\r\n`;
  if (framing === 'length') head += `content-length: ${body.length}\r\n`;
  else if (framing === 'chunked') head += 'transfer-encoding: chunked\r\n';
  if (!context.keepAlive || framing === 'close') return `${head}connection: close\r\n\r\n`;
  return context.version === 'HTTP/1.0' ? `${head}connection: keep-alive\r\n\r\n` : `${head}\r\n`;
}

/** A 1xx head, or that of a connection that is taken over. */
export function interimHead(status: number, headers: Headers): string {
  let head = statusLine(status);
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  return `${head}\r\n`;
}

function isConnectionField(name: string): boolean {
  return name === 'connection' || name === 'transfer-encoding' || name === 'keep-alive' || name === 'proxy-connection';
}

function statusLine(status: number): string {
  return status === 200 ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
}
