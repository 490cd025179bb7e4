import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFacts } from '../../../../proxy/exchange/llm-facts.ts';
import { PushBody } from '../../../../proxy/exchange/push-body.ts';
import { systemClock } from '../../../../proxy/exchange/wait.ts';
import { wireFormat } from '../../../../proxy/llm/formats/registry.ts';
import { eventBody } from '../../../../proxy/llm/stream/event-body.ts';
import { LlmStream } from '../../../../proxy/llm/stream/llm-stream.ts';
import type { TranslatedCall, Translation } from '../../../../proxy/llm/translations/contract.ts';
import { begin } from './notes.ts';

/** What the service answers. */
export type Answer =
  | { readonly kind: 'whole'; readonly body: JsonObject }
  | { readonly kind: 'error'; readonly status: number; readonly body: string }
  /** `cut` breaks the stream instead of ending it. */
  | { readonly kind: 'stream'; readonly text: string; readonly cut?: boolean };

export interface Bridge {
  readonly url: string;
  /** The bodies that the service was asked with. */
  readonly asked: JsonObject[];
  readonly facts: LlmFacts;
  close(): Promise<void>;
}

/** An HTTP server that takes a client's requests, translates them, and translates the given answer back. */
export async function bridge(translation: Translation, answer: Answer): Promise<Bridge> {
  const asked: JsonObject[] = [];
  const facts = new LlmFacts();
  const server = createServer((request, response) => {
    void (async () => {
      const call = begin(translation, JSON.parse(await read(request)) as JsonObject);
      asked.push(call.body);
      reply(response, { call, translation, answer, facts });
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    facts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Reply {
  readonly call: TranslatedCall;
  readonly translation: Translation;
  readonly answer: Answer;
  readonly facts: LlmFacts;
}

function reply(response: ServerResponse, { call, translation, answer, facts }: Reply): void {
  if (answer.kind === 'stream') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    stream(response, { call, translation, answer, facts });
    return;
  }
  const body = answer.kind === 'whole' ? call.response(answer.body) : call.error(answer.status, answer.body);
  response.writeHead(answer.kind === 'whole' ? 200 : answer.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Byte by small piece, as networks do it. */
function stream(response: ServerResponse, { call, translation, answer, facts }: Reply): void {
  if (answer.kind !== 'stream') return;
  const source = new PushBody();
  const follower = new LlmStream({
    facts,
    gathered: null,
    upstream: wireFormat(translation.to),
    client: wireFormat(translation.from),
    translator: call.stream(),
  });
  const body = eventBody(source, {
    framing: 'sse',
    limitBytes: 1_000_000,
    clock: systemClock,
    streamIdleTimeoutMs: 60_000,
    verbatim: false,
    follower: (output) => follower.follow(output),
    onOver: (ending, error) => follower.over(ending, error),
  });
  body.pipe({
    onData: (chunk) => response.write(chunk),
    onEnd: () => response.end(),
    onError: () => response.destroy(),
  });
  const bytes = Buffer.from(answer.text);
  for (let at = 0; at < bytes.length; at += 7) source.push(bytes.subarray(at, at + 7));
  if (answer.cut === true) source.fail(new Error('connection reset'));
  else source.end();
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Server-sent events; a text stands as it is. */
export function sse(events: readonly (JsonObject | string)[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return `data: ${event}\n\n`;
      const { type } = event;
      const name = typeof type === 'string' ? `event: ${type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}
