import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { ProcessingResponse } from '../../proxy/services/messages/process.ts';
import { eventually, RawClient } from './clients.ts';
import { Cleanup, startGateway, upstream } from './gateway.ts';
import {
  modes,
  nothingOpen,
  type Part,
  partOf,
  processor,
  type Script,
  type Seen,
  streamed,
  unchanged,
} from './processor.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const PARTS: readonly Part[] = [
  'requestHeaders',
  'requestBody',
  'requestTrailers',
  'responseHeaders',
  'responseBody',
  'responseTrailers',
];

/** What a processor may do to one message, sense and nonsense. */
const deeds: Readonly<Record<string, (part: Part, seen: Seen) => readonly ProcessingResponse[]>> = {
  goOn: (part, seen) => [unchanged(part, seen)],
  fail: (_part, { call }) => (call.fail(13, 'chaos'), []),
  end: (_part, { call }) => (call.end(), []),
  answer: () => [{ immediateResponse: { status: { code: 418 }, body: Buffer.from('chaos') } }],
  twice: (part, seen) => [unchanged(part, seen), unchanged(part, seen)],
  empty: () => [{}],
  wrong: (part) => [{ [PARTS[(PARTS.indexOf(part) + 1) % PARTS.length] ?? part]: {} }],
  pieces: (part) => [
    unknownBody(part, 'a'.repeat(50_000), false),
    unknownBody(part, '', false),
    unknownBody(part, 'b', true),
  ],
  metadata: (part, seen) => [{ ...unchanged(part, seen), dynamicMetadata: { at: part } }],
  override: (part, seen) => [
    {
      ...unchanged(part, seen),
      modeOverride: { requestBodyMode: 'BUFFERED', responseBodyMode: 'FULL_DUPLEX_STREAMED' },
    },
  ],
};

function unknownBody(part: Part, body: string, endOfStream: boolean): ProcessingResponse {
  return streamed(part.startsWith('request') ? 'requestBody' : 'responseBody', { body, endOfStream });
}

const MODES = ['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed'] as const;

const chaos = fc.record({
  deeds: fc.array(fc.constantFrom('goOn', 'goOn', 'goOn', ...Object.keys(deeds)), { minLength: 8, maxLength: 8 }),
  request: fc.constantFrom(...MODES),
  response: fc.constantFrom(...MODES),
  headers: fc.constantFrom('send', 'skip'),
  failureMode: fc.constantFrom('failOpen', 'failClosed'),
  levels: fc.constantFrom(1, 2),
  method: fc.constantFrom('GET', 'POST', 'HEAD'),
  size: fc.constantFrom(0, 5, 3000, 400_000),
  chunked: fc.boolean(),
  path: fc.constantFrom('/echo', '/early', '/cut', '/chunks', '/none'),
});

test('whatever a processor does, every exchange ends and nothing stays open', async () => {
  await fc.assert(
    fc.asyncProperty(chaos, async (plan) => {
      const act = (_message: unknown, seen: Seen) => {
        const message = seen.messages.at(-1) ?? {};
        const deed = deeds[plan.deeds[(seen.messages.length - 1) % plan.deeds.length] ?? 'goOn'] ?? deeds['goOn'];
        return deed?.(partOf(message), seen) ?? [];
      };
      const script: Script = Object.fromEntries(PARTS.map((part) => [part, act]));
      const service = await processor(cleanup, script);
      const backend = cleanup.add(
        await upstream((request, response) => {
          request.on('error', () => {});
          response.on('error', () => {});
          if (request.url === '/cut') response.write('half', () => response.destroy());
          else if (request.url === '/early') response.end('early');
          else if (request.url === '/none') response.writeHead(204).end();
          else if (request.url === '/chunks') for (let i = 0; i < 3; i++) response.write('x'.repeat(2000));
          if (request.url === '/chunks') response.end();
          else if (request.url === '/echo') request.pipe(response);
          else request.resume();
        }),
      );
      const policy = `{host: "127.0.0.1:${service.port}", failureMode: ${plan.failureMode}, ${modes({
        requestBodyMode: plan.request,
        responseBodyMode: plan.response,
        requestHeaderMode: plan.headers,
        responseHeaderMode: plan.headers,
        allowModeOverride: true,
      })}, policies: {http: {requestTimeout: 300ms}}}`;
      const running = cleanup.add(
        await startGateway(`gateways: {default: {port: 80${plan.levels === 2 ? `, extProc: ${policy}` : ''}}}
routes:
- policies: {extProc: ${policy}, timeout: {requestTimeout: 1s}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
frontendPolicies: {http: {maxBufferSize: 100000}}
`),
      );
      const client = new RawClient(running.port(80));
      const body = plan.method === 'POST' ? 'x'.repeat(plan.size) : '';
      const head = `${plan.method} ${plan.path} HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n`;
      if (body === '') client.write(`${head}\r\n`);
      else if (plan.chunked)
        client.write(
          `${head}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nx-sum: 1\r\n\r\n`,
        );
      else client.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
      await eventually('the exchange ends', () => client.socket.closed);
      await nothingOpen(service);
      expect(running.log.filter((line) => line.includes('unexpectedly'))).toEqual([]);
      expect(client.text).toMatch(/^HTTP\/1.1 (?:200|204|418|50[0-4]) /);
      await cleanup.run();
    }),
    { numRuns: 40 },
  );
});
