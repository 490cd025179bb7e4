import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { TimeoutError } from '../client/errors.ts';
import type { Answer, SendOptions } from './answer.ts';
import { connect, type Destination } from './connect.ts';
import { sendHttp1 } from './http1.ts';
import { sendHttp2 } from './http2.ts';
import type { RequestPlan } from './plan.ts';

/** An open connection on which one request can be sent. */
export interface Connection {
  /** By which the gateway's events of this request can be told from others'. */
  readonly localPort: number | undefined;
  send(): Promise<Answer>;
  close(): void;
}

/** Connects to the gateway while host name, SNI and certificate check are those of the URL. */
export async function openConnection(plan: RequestPlan, to: Destination, options: SendOptions): Promise<Connection> {
  const limit = plan.maxTimeMs === undefined ? undefined : AbortSignal.timeout(plan.maxTimeMs);
  const signal = limit === undefined ? options.signal : AbortSignal.any([options.signal, limit]);
  const explain = (error: unknown): unknown => {
    if (options.signal.aborted) return options.signal.reason;
    return limit?.aborted === true ? new TimeoutError(`the request took longer than ${plan.maxTimeMs} ms`) : error;
  };
  let socket: Socket | TLSSocket;
  try {
    socket = await connect(plan, to, signal);
  } catch (error) {
    throw explain(error);
  }
  return {
    localPort: socket.localPort,
    send: async () => {
      const http2 =
        plan.httpVersion === '2-prior-knowledge' || ('alpnProtocol' in socket && socket.alpnProtocol === 'h2');
      try {
        return await (http2 ? sendHttp2 : sendHttp1)(plan, socket, { ...options, signal });
      } catch (error) {
        throw explain(error);
      } finally {
        socket.destroy();
      }
    },
    close: () => socket.destroy(),
  };
}
