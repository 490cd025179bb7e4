import type { Socket } from 'node:net';

import { messageOf } from '../../src/shared/errors.ts';
import { FieldParser } from '../http1/fields.ts';
import { HeadReader } from '../http1/head-reader.ts';
import { parseResponseHead } from '../http1/response-head.ts';
import { type Connected, joinHostPort } from './connect.ts';
import { connectionFailure } from './connection-failure.ts';
import {
  type Origin,
  type OriginAddress,
  type OriginProxy,
  type UpstreamCall,
  UpstreamError,
  type UpstreamRequest,
  type UpstreamResponse,
} from './upstream.ts';

const MAX_ANSWER_BYTES = 32 * 1024;
const MAX_ANSWER_FIELDS = 100;
/** Interim answers (1xx) that are passed over. */
const MAX_INTERIM = 8;

const fields = new FieldParser({ keepSpelling: false });

/**
 * Asks the proxy on the other end of a connection for a tunnel (RFC 9110 section 9.3.6); what comes behind its answer
 * stays in the socket. The connection is destroyed when there is none.
 */
export function openThroughProxy(
  { socket, peer }: Connected,
  origin: Origin & { readonly proxy: OriginProxy },
  signal: AbortSignal,
): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const answer = new TunnelAnswer(peer);
    const stop = (): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('readable', onReadable).off('error', onError).off('close', onClose).off('end', onClose);
    };
    const fail = (error: unknown): void => {
      stop();
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const onReadable = (): void => {
      try {
        if (!answer.readFrom(socket)) return;
      } catch (error) {
        fail(error);
        return;
      }
      stop();
      resolve({ socket, peer });
    };
    const onError = (error: Error): void =>
      fail(proxyError(peer, `broke off: ${connectionFailure(error, peer).message}`, error));
    const onClose = (): void => fail(proxyError(peer, 'closed the connection instead of answering'));
    const onAbort = (): void => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('readable', onReadable).once('error', onError).once('close', onClose).once('end', onClose);
    if (signal.aborted) onAbort();
    else socket.write(connectRequest(origin), 'latin1');
  });
}

/** The proxy's answer to CONNECT, read piece by piece. */
class TunnelAnswer {
  readonly #peer: string;
  readonly #head = new HeadReader(MAX_ANSWER_BYTES);
  #interim = 0;

  constructor(peer: string) {
    this.#peer = peer;
  }

  /** True once the tunnel is open; throws an `UpstreamError` for any other answer. */
  readFrom(socket: Socket): boolean {
    for (;;) {
      const chunk: unknown = socket.read();
      if (!(chunk instanceof Buffer)) return false;
      if (this.#take(chunk, socket)) return true;
    }
  }

  #take(chunk: Buffer, socket: Socket): boolean {
    for (let bytes: Buffer | null = chunk; bytes !== null; bytes = this.#head.rest) {
      const status = this.#status(bytes);
      if (status === null) return false;
      if (status === 200) {
        if (this.#head.rest !== null) socket.unshift(this.#head.rest);
        return true;
      }
      if (status >= 200) throw refusedBy(this.#peer, status);
      this.#interim += 1;
      if (this.#interim > MAX_INTERIM) throw proxyError(this.#peer, 'sends interim answers without end');
    }
    return false;
  }

  #status(bytes: Buffer): number | null {
    try {
      const head = this.#head.read(bytes);
      return head === null ? null : parseResponseHead(head, fields, MAX_ANSWER_FIELDS).status;
    } catch (error) {
      throw proxyError(this.#peer, `gave an answer that is not HTTP: ${messageOf(error)}`, error);
    }
  }
}

function connectRequest({ address, proxy }: Origin & { readonly proxy: OriginProxy }): string {
  const authority = address.kind === 'unix' ? address.path : joinHostPort(address.host, address.port);
  const { credential } = proxy;
  const shown = credential === null ? '' : `${credential.header}: ${credential.value.reveal()}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${shown}\r\n`;
}

/** The request as a proxy takes it: the whole address of its target, and the credential of the gateway. */
export function forwardedRequest(
  request: UpstreamRequest,
  address: OriginAddress,
  proxy: OriginProxy,
): UpstreamRequest {
  const headers = request.headers.clone();
  // What the client has for a proxy was meant for this gateway.
  headers.remove('proxy-authorization');
  if (proxy.credential !== null) headers.set(proxy.credential.header, proxy.credential.value.reveal());
  // RFC 9112 section 3.2.2: `host` is the authority of the target, which says where the proxy connects to.
  const authority = targetAuthority(address);
  const path = request.target === '*' ? '' : request.target === '' ? '/' : request.target;
  return { ...request, headers, authority, target: `http://${authority}${path}` };
}

function targetAuthority(address: OriginAddress): string {
  if (address.kind === 'unix') return 'localhost';
  if (address.port !== 80) return joinHostPort(address.host, address.port);
  return address.host.includes(':') ? `[${address.host}]` : address.host;
}

/** A call that a proxy carries out: that it wants a credential is no answer of the backend. */
export class ForwardedCall implements UpstreamCall {
  readonly response: Promise<UpstreamResponse>;
  readonly #inner: UpstreamCall;

  constructor(inner: UpstreamCall) {
    this.#inner = inner;
    this.response = inner.response.then((response) => {
      if (response.status !== 407) return response;
      response.body.cancel();
      throw refusedBy(response.peer, 407);
    });
  }

  cancel(): void {
    this.#inner.cancel();
  }
}

function refusedBy(peer: string, status: number): UpstreamError {
  if (status === 407) return proxyError(peer, 'requires authentication (407)');
  return proxyError(peer, `refused the tunnel with status ${status}`);
}

function proxyError(peer: string, message: string, cause?: unknown): UpstreamError {
  return new UpstreamError('connect', `the proxy ${message}`, { peer, cause });
}
