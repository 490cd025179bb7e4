/** An external processor for tests: a real gRPC server whose answers are scripted part by part. */
import type { Metadata } from '@grpc/grpc-js';

import type { CommonResponse, ProcessingResponse } from '../../proxy/services/messages/process.ts';
import { type ProcessCall, serveExtProc } from '../services/envoy.ts';
import { eventually } from './clients.ts';
import { type Ask, ask, type Cleanup, startGateway, upstream } from './gateway.ts';
import type { RequestListener } from 'node:http';

export type Message = Record<string, unknown>;
export type Part =
  | 'requestHeaders'
  | 'requestBody'
  | 'requestTrailers'
  | 'responseHeaders'
  | 'responseBody'
  | 'responseTrailers';

const PARTS: readonly Part[] = [
  'requestHeaders',
  'requestBody',
  'requestTrailers',
  'responseHeaders',
  'responseBody',
  'responseTrailers',
];

/** One stream, as the processor has seen it. */
export interface Seen {
  readonly metadata: Metadata;
  /** Whole messages. */
  readonly messages: Message[];
  /** How the gateway left; null while it is there. */
  left: 'ended' | 'cancelled' | null;
  readonly call: ProcessCall;
}

type Answer = ProcessingResponse | readonly ProcessingResponse[] | null;
/** What to say to one part of a message; null says nothing. */
export type Script = Partial<Record<Part, (part: Message, seen: Seen) => Answer>>;

export interface Processor {
  readonly port: number;
  readonly streams: Seen[];
  /** Streams that are open. */
  open(): number;
  /** Names of the parts of a stream's messages, in order. */
  parts(stream?: number): string[];
  /** All messages about a part. */
  about(part: Part, stream?: number): Message[];
  close(): void;
}

/** What is not scripted goes on as it is: bodies that stream come back piece by piece. */
export async function processor(cleanup: Cleanup, script: Script = {}): Promise<Processor> {
  const streams: Seen[] = [];
  const server = await serveExtProc((call) => {
    const seen: Seen = { metadata: call.metadata, messages: [], left: null, call };
    streams.push(seen);
    call.onMessage((message) => {
      seen.messages.push(message);
      const part = partOf(message);
      const scripted = script[part];
      const answer = scripted === undefined ? unchanged(part, seen) : scripted(message[part] as Message, seen);
      for (const each of answer === null ? [] : [answer].flat()) call.send(each);
    });
    call.onEnd((how) => {
      // The end of the stream is told as a cut as well.
      seen.left ??= how;
      if (how === 'ended') call.end();
    });
  });
  cleanup.add(server);
  return {
    port: server.port,
    streams,
    open: () => streams.filter(({ left }) => left === null).length,
    parts: (stream = 0) => (streams[stream]?.messages ?? []).map(partOf),
    about: (part, stream = 0) =>
      (streams[stream]?.messages ?? []).flatMap((message) =>
        message[part] === undefined ? [] : [message[part] as Message],
      ),
    close: () => server.close(),
  };
}

export function partOf(message: Message): Part {
  const part = PARTS.find((each) => message[each] !== undefined);
  if (part === undefined) throw new Error(`a message without a part: ${JSON.stringify(message)}`);
  return part;
}

/** The answer that changes nothing. */
export function unchanged(part: Part, { messages }: Seen): ProcessingResponse {
  const config = messages[0]?.['protocolConfig'] as Message | undefined;
  const mode = config?.[part === 'requestBody' ? 'requestBodyMode' : 'responseBodyMode'];
  const isBody = part === 'requestBody' || part === 'responseBody';
  if (!isBody || mode !== 'FULL_DUPLEX_STREAMED') return { [part]: {} };
  return streamed(part, messages.at(-1)?.[part] as Message);
}

/** A piece of a body that streams. */
export function streamed(
  part: 'requestBody' | 'responseBody',
  { body, endOfStream }: { body?: unknown; endOfStream?: unknown },
): ProcessingResponse {
  const bytes = typeof body === 'string' ? Buffer.from(body) : ((body as Uint8Array | undefined) ?? Buffer.alloc(0));
  return common(part, {
    bodyMutation: { streamedResponse: { body: bytes, endOfStream: endOfStream === true } },
  });
}

export function common(
  part: 'requestHeaders' | 'responseHeaders' | 'requestBody' | 'responseBody',
  response: CommonResponse,
): ProcessingResponse {
  return { [part]: { response } };
}

/** A header to set. */
export function set(key: string, value: string, appendAction = 'OVERWRITE_IF_EXISTS_OR_ADD') {
  // `as`: names of the public definition.
  return { header: { key, rawValue: Buffer.from(value) }, appendAction: appendAction as 'ADD_IF_ABSENT' };
}

/** Header values of a message by name, pseudo headers included. */
export function fieldsOf(part: Message | undefined): Record<string, string> {
  const map = part?.['headers'] ?? part?.['trailers'];
  const list = ((map as Message | undefined)?.['headers'] ?? []) as Message[];
  return Object.fromEntries(
    list.map(({ key, value, rawValue }) => [
      key as string,
      rawValue === undefined ? (value as string) : Buffer.from(rawValue as Uint8Array).toString(),
    ]),
  );
}

/** The bytes of all messages about a body. */
export function bytesOf(messages: readonly Message[]): Buffer {
  return Buffer.concat(messages.map(({ body }) => (body as Uint8Array | undefined) ?? Buffer.alloc(0)));
}

/** A gateway whose only route has the policy, in front of an upstream. */
export async function processedGateway(
  cleanup: Cleanup,
  to: { readonly port: number },
  {
    more = '',
    policies = '',
    yaml = '',
    backend,
  }: { more?: string; policies?: string; yaml?: string; backend: RequestListener | number },
) {
  const port = typeof backend === 'number' ? backend : cleanup.add(await upstream(backend)).port;
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {extProc: {host: "127.0.0.1:${to.port}"${more === '' ? '' : `, ${more}`}}${policies === '' ? '' : `, ${policies}`}}
  backends: [{host: "127.0.0.1:${port}"}]
${yaml}`),
  );
  const http = running.port(80);
  return { ...running, http, ask: (path: string, options?: Ask) => ask(http, path, options) };
}

export async function nothingOpen(service: Processor): Promise<void> {
  await eventually('every stream is closed', () => service.open() === 0);
}

/** `processingOptions` as YAML. */
export function modes(options: Record<string, string | boolean>): string {
  return `processingOptions: ${JSON.stringify(options)}`;
}
