import type { Headers } from '../exchange/headers.ts';
import { checkOctets, type FieldParser } from './fields.ts';
import { Http1Error } from './limits.ts';

export interface ResponseHead {
  readonly status: number;
  readonly version: 'HTTP/1.0' | 'HTTP/1.1';
  readonly headers: Headers;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;

/** Parses a response head (RFC 9112 sections 4 and 5), each line with its CRLF, without the empty line. */
export function parseResponseHead(text: string, fields: FieldParser, maxHeaders: number): ResponseHead {
  checkOctets(text);
  const lineEnd = text.indexOf('\r\n');
  const line = STATUS_LINE.exec(text.slice(0, lineEnd));
  if (line === null) throw new Http1Error(502, 'malformed status line');
  return {
    status: Number(line[2]),
    version: line[1] === '1' ? 'HTTP/1.1' : 'HTTP/1.0',
    headers: fields.parse(text, lineEnd + 2, maxHeaders),
  };
}
