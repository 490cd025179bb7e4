import { afterEach, describe, expect, test } from '@jest/globals';

import { fetchDocument } from '../../../proxy/resources/fetch-document.ts';
import { freshForMs } from '../../../proxy/resources/freshness.ts';
import { DocumentServer } from './server.ts';

const servers: DocumentServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serving(...[answer]: Parameters<typeof DocumentServer.start>): Promise<DocumentServer> {
  const server = await DocumentServer.start(answer);
  servers.push(server);
  return server;
}

const unhurried = { etag: undefined, signal: new AbortController().signal };

describe('fetching a document', () => {
  test('gives its text whatever content type the server claims', async () => {
    const server = await serving((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'image/png', etag: '"1"', 'cache-control': 'max-age=300' })
        .end('{"a":1}'),
    );
    await expect(fetchDocument(`${server.url}/keys?tenant=1`, unhurried)).resolves.toEqual({
      kind: 'text',
      text: '{"a":1}',
      etag: '"1"',
      freshMs: 300_000,
    });
    expect(server.asked).toEqual(['/keys?tenant=1']);
  });

  test('sends the tag of what is there, and takes 304 for unchanged', async () => {
    const server = await serving((request, response) =>
      response.writeHead(request.headers['if-none-match'] === '"1"' ? 304 : 500).end(),
    );
    const fetched = await fetchDocument(server.url, { ...unhurried, etag: '"1"' });
    expect(fetched).toEqual({ kind: 'unchanged', freshMs: 900_000 });
  });

  test('follows redirects, but not for ever and not to anything else', async () => {
    const server = await serving((request, response) => {
      const [, step = '', left = '0'] = (request.url ?? '').split('/');
      if (step === 'file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (step === 'user') response.writeHead(302, { location: 'http://a:b@127.0.0.1/' }).end();
      else if (left === '0') response.end('here');
      else response.writeHead(307, { location: `/hop/${Number(left) - 1}` }).end('moved');
    });
    await expect(fetchDocument(`${server.url}/hop/5`, unhurried)).resolves.toMatchObject({ text: 'here' });
    await expect(fetchDocument(`${server.url}/hop/6`, unhurried)).rejects.toThrow('more than 5 redirects');
    await expect(fetchDocument(`${server.url}/file`, unhurried)).rejects.toThrow('redirects to file:');
    await expect(fetchDocument(`${server.url}/user`, unhurried)).rejects.toThrow('with credentials');
  });

  test('takes descriptions of services that are larger and stay good for a day', async () => {
    const text = ' '.repeat(2 * 2 ** 20);
    const server = await serving((request, response) =>
      response.end(request.url === '/huge' ? ' '.repeat(17 * 2 ** 20) : text),
    );
    const options = { ...unhurried, content: 'openApi' } as const;
    await expect(fetchDocument(server.url, options)).resolves.toMatchObject({ text, freshMs: 24 * 3_600_000 });
    await expect(fetchDocument(`${server.url}/huge`, options)).rejects.toThrow('larger than 16 MiB');
  });

  test('refuses what is too large, whether the length is told or not', async () => {
    const server = await serving((request, response) => {
      if (request.url === '/told') response.writeHead(200, { 'content-length': String(2 * 2 ** 20) });
      for (let sent = 0; sent < 33; sent++) response.write(Buffer.alloc(64 * 1024, 32));
      response.on('error', () => {});
    });
    await expect(fetchDocument(`${server.url}/told`, unhurried)).rejects.toThrow('larger than 1 MiB');
    await expect(fetchDocument(`${server.url}/untold`, unhurried)).rejects.toThrow('larger than 1 MiB');
  });

  test.each([
    ['an error', (response: import('node:http').ServerResponse) => response.writeHead(503).end('{}'), 'status 503'],
    ['no content', (response: import('node:http').ServerResponse) => response.writeHead(204).end(), 'status 204'],
    [
      'a 304 that nobody asked for',
      (response: import('node:http').ServerResponse) => response.writeHead(304).end(),
      'status 304',
    ],
    [
      'bytes that are no text',
      (response: import('node:http').ServerResponse) => response.end(Buffer.from([0xff, 0xfe, 0x80])),
      'not UTF-8',
    ],
    ['a cut connection', (response: import('node:http').ServerResponse) => response.destroy(), /./],
    [
      'a cut body',
      (response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy());
      },
      /./,
    ],
  ])('fails on %s', async (_what, answer, message) => {
    const server = await serving((_request, response) => void answer(response));
    await expect(fetchDocument(server.url, unhurried)).rejects.toThrow(message);
  });

  test('fails when nobody listens, and ends when it is told to', async () => {
    const server = await serving(() => {});
    const stop = new AbortController();
    const waiting = fetchDocument(server.url, { etag: undefined, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow();
    await server.close();
    await expect(fetchDocument(server.url, unhurried)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('how long an answer is good for', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const fresh = (headers: Record<string, string>): number => freshForMs((name) => headers[name], now) / 1000;

  test.each([
    ['nothing told', {}, 900],
    ['max-age', { 'cache-control': 'public, Max-Age=120' }, 120],
    ['max-age less the age', { 'cache-control': 'max-age=300', age: '100' }, 200],
    ['a minute at least', { 'cache-control': 'max-age=1' }, 60],
    ['a day at most', { 'cache-control': 'max-age=99999999999' }, 86_400],
    ['max-age with no-store', { 'cache-control': 'no-store, max-age=120' }, 900],
    ['max-age that is no number', { 'cache-control': 'max-age=soon' }, 900],
    ['Expires', { expires: 'Fri, 02 Jan 2026 00:05:00 GMT' }, 300],
    ['max-age over Expires', { 'cache-control': 'max-age=120', expires: 'Fri, 02 Jan 2026 00:05:00 GMT' }, 120],
    ['an Expires that is no date', { expires: '0' }, 60],
  ])('%s', (_what, headers, seconds) => {
    expect(fresh(headers as Record<string, string>)).toBe(seconds);
  });
});
