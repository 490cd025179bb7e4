import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ListenAddress } from '../../src/config/ir/index.ts';
import { refusedHost, type BrowserHints } from './browser-guard.ts';
import { text, type EndpointReply, type ReplyStream } from './endpoint.ts';
import { LocalServer } from './local-server.ts';
import { badParameter, type AdminRouter } from './router.ts';

/** Opens the admin interface. */
export function openAdminServer(address: ListenAddress, router: AdminRouter): Promise<LocalServer> {
  const configured = address.kind === 'tcp' ? address.hosts : [];
  return LocalServer.open({
    name: 'admin',
    setting: 'config.adminAddr (ADMIN_ADDR)',
    address,
    handle: (request, response) => void answer({ request, response, router, configured }),
  });
}

interface Work {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly router: AdminRouter;
  readonly configured: readonly string[];
}

async function answer({ request, response, router, configured }: Work): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const hints = hintsOf(request);
  const refused = refusedHost(hints, configured);
  const reply =
    refused === null
      ? await router.route({
          method: request.method ?? 'GET',
          target: request.url ?? '/',
          hints,
          signal: gone.signal,
          body: () => readBody(request),
        })
      : text(403, `${refused}\n`);
  // What nobody asked for is read and forgotten.
  request.resume();
  if (!response.destroyed) send(response, reply, request.method === 'HEAD');
}

const MAX_BODY_BYTES = 4 * 2 ** 20;

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    // `as`: no encoding is set, so the parts are buffers.
    const piece = part as Buffer;
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) throw badParameter('the body is too large');
    parts.push(piece);
  }
  return Buffer.concat(parts);
}

function hintsOf(request: IncomingMessage): BrowserHints {
  const { host, origin, 'sec-fetch-site': fetchSite } = request.headers;
  return {
    host,
    origin,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
    localAddress: request.socket.localAddress,
  };
}

const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

function send(response: ServerResponse, reply: EndpointReply, headOnly: boolean): void {
  if (reply.kind === 'stream') {
    response.writeHead(200, { ...COMMON_HEADERS, ...reply.headers });
    response.flushHeaders();
    if (headOnly) response.end();
    else reply.start(streamOf(response));
    return;
  }
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
  response.writeHead(reply.status, { ...COMMON_HEADERS, ...reply.headers, 'content-length': body.byteLength });
  response.end(headOnly ? undefined : body);
}

function streamOf(response: ServerResponse): ReplyStream {
  response.on('error', () => {});
  return {
    write: (chunk) => (response.destroyed || response.writableEnded ? true : response.write(chunk)),
    end: () => void response.end(),
    onDrain: (listener) => void response.on('drain', listener),
    onClose: (listener) => void response.once('close', listener),
  };
}
