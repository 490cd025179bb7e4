import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { apis, type Vendor } from './apis/index.ts';
import { isObject, type Json, type ProviderCall, sendJson } from './call.ts';
import { realtimeSession } from './realtime.ts';

export type { Vendor } from './apis/index.ts';

/** What a provider was asked. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

export interface SimulatedProvider {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Requests that the vendor would refuse as malformed; none in a test that passes, unless it sent them on purpose. */
  readonly faults: readonly string[];
  /** Forgets what was asked so far. */
  clear(): void;
  /** How many answers are not finished: whether a client that left was noticed. */
  readonly open: number;
  close(): Promise<void>;
}

/** Starts the API of a vendor on a free loopback port. */
export async function startProvider(vendor: Vendor): Promise<SimulatedProvider> {
  const requests: SeenRequest[] = [];
  const faults: string[] = [];
  const sockets = new Set<{ destroy(): void }>();
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
    answer(vendor, { request, response, requests, faults }).catch((error: unknown) => {
      faults.push(`the simulation failed: ${error instanceof Error ? error.stack : String(error)}`);
      response.destroy();
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket) => {
    requests.push({ method: request.method ?? '', target: request.url ?? '', headers: request.headers, body: {} });
    realtimeSession(request, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    faults,
    clear() {
      requests.length = 0;
      faults.length = 0;
    },
    get open() {
      return open;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Answering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requests: SeenRequest[];
  readonly faults: string[];
}

async function answer(vendor: Vendor, { request, response, requests, faults }: Answering): Promise<void> {
  const chunks: Buffer[] = [];
  // `as`: the stream of a request gives nothing else.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const parsed = parse(raw);
  const method = request.method ?? '';
  const target = request.url ?? '';
  requests.push({ method, target, headers: request.headers, body: parsed ?? {} });
  const [path = '', query = ''] = target.split('?', 2);
  const call: ProviderCall = {
    method,
    path,
    query: new URLSearchParams(query),
    target,
    headers: request.headers,
    body: parsed ?? {},
    raw,
    response,
    fault: (message) => faults.push(message),
  };
  if (parsed === null) {
    call.fault(`${method} ${target}: the body is no JSON object: ${raw.toString().slice(0, 200)}`);
    return sendJson(call, 400, {
      error: { message: 'could not parse the JSON body of your request', type: 'invalid_request_error' },
    });
  }
  await apis[vendor](call);
}

/** Null for what is no JSON object. */
function parse(raw: Buffer): Json | null {
  if (raw.byteLength === 0) return {};
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
