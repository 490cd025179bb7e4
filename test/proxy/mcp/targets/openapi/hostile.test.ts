import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../../proxy/exchange/headers.ts';
import type { CallSink, TargetCall } from '../../../../../proxy/mcp/targets/contract.ts';
import { openApiTarget } from '../../../../../proxy/mcp/targets/openapi/connection.ts';
import { compileDocument } from '../../../../../proxy/mcp/targets/openapi/document.ts';
import { fixedDocument } from '../../../../../proxy/mcp/targets/openapi/live-document.ts';
import { GwError } from '../../../../../src/shared/errors.ts';
import { untraced } from '../../../exchange/build.ts';
import { nodeCaller, petShop, said } from './shop.ts';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/** A service that treats every connection's socket as it likes. */
async function rude(treat: (socket: Socket) => void) {
  server = createServer((request) => treat(request.socket));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server?.once('listening', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  const options = {
    name: 'shop',
    document: fixedDocument(compileDocument(petShop())),
    path: '',
    maxAnswerBytes: 10_000,
  };
  return openApiTarget({ ...options, caller: nodeCaller(port) }).connect(null);
}

const CALL = { name: 'listPets', arguments: { header: { 'X-Tenant': 'a' } } };

describe('a service', () => {
  test.each([
    ['resets', (socket: Socket) => void socket.destroy()],
    ['writes what is no HTTP', (socket: Socket) => void socket.end('hello\r\n')],
    [
      'stops in the middle of a body',
      (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":'),
    ],
  ])('that %s is a failure of the call alone', async (_, treat) => {
    const connection = await rude(treat);
    expect(await said(connection, 'tools/call', CALL)).toMatchObject({ messages: [], failure: { kind: 'broken' } });
    expect(await said(connection, 'ping')).toMatchObject({ failure: null });
  });

  test('that never answers is left when the client loses interest, which then hears nothing', async () => {
    const { promise: arrival, resolve: arrived } = Promise.withResolvers<Socket>();
    const connection = await rude(arrived);
    const heard: unknown[] = [];
    const sink: CallSink = { onMessage: (message) => heard.push(message), onEnd: (failure) => heard.push(failure) };
    const call: TargetCall = { exchange: untraced(), trace: null, headers: new Headers(), version: null };
    const calling = connection.request({ kind: 'request', id: 1, method: 'tools/call', params: CALL }, call, sink);
    const socket = await arrival;
    calling.cancel();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(heard).toEqual([]);
  });
});

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const JUNK: readonly unknown[] = [
  null,
  true,
  7,
  '',
  'x',
  [],
  {},
  [null],
  { $ref: '#/components/schemas/Pet' },
  { $ref: '#/' },
  { $ref: 3 },
  '#/components',
  ['a', {}],
  { in: 'path' },
  { __proto__: null },
];

describe('a document with junk anywhere', () => {
  test('is compiled, or refused with words for people', () => {
    const next = random(20_260_728);
    const shop = petShop();
    const wrong: unknown[] = [];
    for (let round = 0; round < 2_000; round++) {
      const document = structuredClone(shop) as unknown as Record<string, unknown>; // to be changed
      const places: [Record<string, unknown>, string][] = [];
      const visit = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return;
        // `as`: lists have keys too.
        for (const key of Object.keys(value)) places.push([value as Record<string, unknown>, key]);
        Object.values(value).forEach(visit);
      };
      visit(document);
      const [parent, key] = places[Math.floor(next() * places.length)] ?? [document, 'paths'];
      parent[key] = JUNK[Math.floor(next() * JUNK.length)];
      const problem = problemOf(document);
      if (problem !== null) wrong.push(problem);
    }
    expect(wrong).toEqual([]);
  });
});

/** What is no refusal for people. */
function problemOf(document: unknown): unknown {
  try {
    return JSON.stringify(compileDocument(document).tools) === undefined ? 'no tools' : null;
  } catch (error) {
    return error instanceof GwError ? null : error;
  }
}
