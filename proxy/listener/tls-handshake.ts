import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';

import { messageOf, systemCodeOf } from '../../src/shared/errors.ts';

export type HandshakeOutcome =
  | { readonly kind: 'secure'; readonly socket: TLSSocket }
  | { readonly kind: 'failed'; readonly detail: string };

/**
 * Runs the handshake of one accepted connection on a listener's TLS server; `done` is called once. The server reports to
 * itself, not to a connection, so each connection hands it its own view: an object that is the server in everything but
 * `emit`. Listeners are called with the emitter as `this`, which is how the view comes to receive the outcome.
 */
export function handshake(server: Server, socket: Socket, done: (outcome: HandshakeOutcome) => void): void {
  let over = false;
  const finish = (outcome: HandshakeOutcome): void => {
    if (over) return;
    over = true;
    done(outcome);
  };
  const emit = (event: string | symbol, ...parts: unknown[]): boolean => {
    const [first, second] = parts;
    if (event === 'secureConnection' && isTlsSocket(first)) {
      first.allowHalfOpen = true;
      finish({ kind: 'secure', socket: first });
    } else if (event === 'tlsClientError') finish({ kind: 'failed', detail: failureDetail(first, second) });
    else return server.emit(event, ...parts);
    return true;
  };
  // A client that ends its side inside a handshake is gone; only behind it does half a connection make sense.
  socket.allowHalfOpen = false;
  const view: Server = Object.create(server, { emit: { value: emit } });
  server.emit.call(view, 'connection', socket);
}

function isTlsSocket(value: unknown): value is TLSSocket {
  return typeof value === 'object' && value !== null && 'encrypted' in value;
}

/** OpenSSL's reason without its error queue position, or why the client's certificate was not accepted. */
function failureDetail(error: unknown, socket: unknown): string {
  if (isTlsSocket(socket) && socket.authorizationError)
    return `client certificate: ${String(socket.authorizationError)}`;
  if (systemCodeOf(error) === 'ECONNRESET') return 'the client closed the connection during the handshake';
  if (typeof error === 'object' && error !== null && 'reason' in error && typeof error.reason === 'string') {
    return error.reason;
  }
  return messageOf(error);
}
