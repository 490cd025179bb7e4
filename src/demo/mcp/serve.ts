import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { McpHttpHandler } from '@modelcontextprotocol/server';

/** An MCP server on HTTP. What it is made of is loaded with the first request: the demo starts without the library. */
export function mcpServer(
  load: () => Promise<McpHttpHandler>,
): (request: IncomingMessage, response: ServerResponse) => void {
  let loaded: Promise<McpHttpHandler> | undefined;
  return (request, response) => {
    loaded ??= load();
    // Whoever asked has gone, or the demo ends: nobody is left to tell.
    loaded.then((handler) => serve(handler, request, response)).catch(() => response.destroy());
  };
}

async function serve(handler: McpHttpHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const { status, headers, body } = await handler.fetch(requestOf(incoming, gone.signal));
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (body === null) outgoing.end();
  // `as`: the runtime has two names for one type.
  else await pipeline(Readable.fromWeb(body as ReadableStream), outgoing);
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/' } = incoming;
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const body = method === 'GET' || method === 'HEAD' ? {} : { body: Readable.toWeb(incoming), duplex: 'half' as const };
  return new Request(new URL(url, 'http://shop.internal'), { method, headers, signal, ...body });
}
