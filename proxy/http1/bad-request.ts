import { STATUS_CODES } from 'node:http';

import type { Http1Error } from './limits.ts';

/** The whole answer to a message that never became a request; the connection ends with it. */
export function badRequestAnswer(error: Http1Error): string {
  const { status, message } = error;
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: text/plain',
    `x-gw-reason: ${status === 504 ? 'Timeout' : 'InvalidRequest'}`,
    `content-length: ${message.length}`,
    'connection: close',
    '',
    message,
  ].join('\r\n');
}
