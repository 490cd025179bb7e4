import type { ConnectionFacts } from '../exchange/connection.ts';
import { FieldParser } from '../http1/fields.ts';
import { DEFAULT_MAX_HEAD_BYTES, type Http1Error } from '../http1/limits.ts';
import { DateHeader } from '../http1/response-writer.ts';
import { Http1Connection } from '../http1/server.ts';
import type { Sweeper } from '../http1/sweeper.ts';
import type { ServeHttp } from './http-connection.ts';

export interface Http1Wiring {
  readonly sweeper: Sweeper;
  /** A message that was refused before there was a request. */
  readonly onBadRequest?: ((connection: ConnectionFacts, error: Http1Error) => void) | undefined;
}

/** How the connections of one data thread are served as HTTP/1; parsers and clock are shared between them. */
export function http1Service(wiring: Http1Wiring): ServeHttp {
  const date = new DateHeader();
  const preserving = new FieldParser({ keepSpelling: true });
  const lowering = new FieldParser({ keepSpelling: false });
  return (socket, facts, start, handler) => {
    const { http } = start;
    const preserveCase = http.http1HeaderCase === 'preserve';
    const options = {
      first: start.first ?? undefined,
      maxHeadBytes: DEFAULT_MAX_HEAD_BYTES,
      maxHeaders: http.http1MaxHeaders,
      idleTimeoutMs: http.http1IdleTimeoutMs,
      streamIdleTimeoutMs: http.streamIdleTimeoutMs,
      maxConnectionDurationMs: http.maxConnectionDurationMs,
      preserveCase,
      fields: preserveCase ? preserving : lowering,
      date,
      sweeper: wiring.sweeper,
      onBadRequest: wiring.onBadRequest,
    };
    const connection = new Http1Connection(socket, facts, options, handler);
    if (start.draining) connection.closeAfterResponse();
    connection.start();
    return connection;
  };
}
