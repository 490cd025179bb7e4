/**
 * The yardstick: the least that a proxy of `node:http` and undici does. Pooled connections, bodies streamed both ways with
 * back-pressure, hop-by-hop headers left out; no routes, policies, logs or metrics.
 * Usage: bare-undici.ts UPSTREAM_PORT [CERT KEY]
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';

const [upstreamPort, cert, key] = process.argv.slice(2);
const origin = `http://127.0.0.1:${upstreamPort}`;
const agent = new Agent({ connections: 256, pipelining: 1 });
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'host']);

const server =
  cert === undefined || key === undefined
    ? createServer(proxy)
    : createSecureServer({ cert: readFileSync(cert), key: readFileSync(key), allowHTTP1: true }, proxy);
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`));

function proxy(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void {
  const method = (request.method ?? 'GET') as Dispatcher.HttpMethod;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  agent.dispatch(
    { origin, method, path: request.url ?? '/', headers: endToEnd(request.rawHeaders), body: hasBody ? request : null },
    new Answer(response),
  );
}

function endToEnd(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (name.startsWith(':') || HOP_BY_HOP.has(name.toLowerCase())) continue;
    kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
}

class Answer implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse | Http2ServerResponse) {
    // The overloads of the two classes differ, so their union cannot be called; what is called here they share.
    this.#response = response as ServerResponse;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) controller.abort(new Error('the client left'));
    });
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const kept: Record<string, string | string[] | undefined> = {};
    for (const name in headers) if (!HOP_BY_HOP.has(name)) kept[name] = headers[name];
    this.#response.writeHead(status, kept);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(): void {
    if (this.#response.headersSent) {
      this.#response.destroy();
      return;
    }
    this.#response.statusCode = 502;
    this.#response.end();
  }
}
