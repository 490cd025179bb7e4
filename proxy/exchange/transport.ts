import type { Duplex } from 'node:stream';

import type { Headers } from './headers.ts';
import type { HttpResponse } from './message.ts';

/** How a response left: whole, or cut by one of the sides. */
export type Delivery =
  | { readonly kind: 'complete'; readonly bytes: number }
  | { readonly kind: 'clientGone'; readonly bytes: number }
  /** The transport itself had to refuse the rest of the request, and has told the client so. */
  | { readonly kind: 'refused'; readonly bytes: number; readonly status: number; readonly message: string }
  | { readonly kind: 'cut'; readonly bytes: number; readonly error: Error };

/** One request's way back to its client; HTTP/1.1 and HTTP/2 implement it. */
export interface Transport {
  /**
   * Sends the response and streams its body under the client's back-pressure. Called once. Framing headers are the
   * transport's own business: `transfer-encoding`, `connection` and `keep-alive` in `response.headers` are ignored, and a
   * body of known length gets its `content-length`. `trailers` of the body are forwarded where the protocol can.
   * `done` is called once, when the last byte has been handed to the socket or the exchange was cut.
   */
  respond(response: HttpResponse, done: (delivery: Delivery) => void): void;
  /** Sends a 1xx other than 101 before the response; dropped for clients that cannot take it. */
  informational(status: number, headers: Headers): void;
  /** Answers 101 (or 200 to CONNECT) and hands over the raw connection; null when the protocol cannot. */
  takeOver(status: number, headers: Headers): Duplex | null;
  /** Called once if the client goes away before the response is complete. One listener. */
  onClientGone(listener: () => void): void;
  /** Ends the connection after this response. */
  closeAfterResponse(): void;
}
