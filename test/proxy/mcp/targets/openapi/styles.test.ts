import { describe, expect, test } from '@jest/globals';

import { compileDocument } from '../../../../../proxy/mcp/targets/openapi/document.ts';
import { writeRequest } from '../../../../../proxy/mcp/targets/openapi/request.ts';
import { Headers } from '../../../../../proxy/exchange/headers.ts';
import type { JsonObject, JsonValue } from '../../../../../src/shared/json.ts';

/** The tool of an operation, and what it makes of arguments. */
function operation(path: string, more: JsonObject) {
  const { plans, tools } = compileDocument({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { [path]: { post: { operationId: 'op', ...more } } },
  });
  const plan = plans.get('op');
  if (plan === undefined) throw new Error('there is no tool');
  const [tool] = tools;
  const write = (given: JsonObject) => {
    const headers = new Headers();
    const written = writeRequest(plan, given, headers);
    if (written.kind === 'misfit') return written.problem;
    return { target: written.target, headers: Object.fromEntries(headers), body: written.body };
  };
  return { tool, write };
}

const color = { R: 100, G: 'a/b' };

describe('parameters', () => {
  const at = (place: string, style: JsonObject, value: JsonValue) => {
    const parameters = [{ name: 'c', in: place, ...style }];
    const written = operation(place === 'path' ? '/p/{c}' : '/p', { parameters }).write({ [place]: { c: value } });
    return typeof written === 'string' ? written : place === 'header' ? written.headers['c'] : written.target;
  };

  test.each<readonly [string, JsonObject, JsonValue, string]>([
    ['path', {}, [3, 'a,b'], '/p/3,a%2Cb'],
    ['path', {}, color, '/p/R,100,G,a%2Fb'],
    ['path', { explode: true }, color, '/p/R=100,G=a%2Fb'],
    ['path', { style: 'label' }, 5, '/p/.5'],
    ['path', { style: 'label', explode: true }, [3, 4], '/p/.3.4'],
    ['path', { style: 'matrix' }, 5, '/p/;c=5'],
    ['path', { style: 'matrix' }, [3, 4], '/p/;c=3,4'],
    ['path', { style: 'matrix', explode: true }, [3, 4], '/p/;c=3;c=4'],
    ['path', { style: 'matrix', explode: true }, color, '/p/;R=100;G=a%2Fb'],
    ['path', {}, [], 'the path parameter `c` is missing'],
    ['path', { style: 'label' }, '', 'the path parameter `c` is missing'],
    ['query', {}, color, '/p?R=100&G=a%2Fb'],
    ['query', { explode: false }, color, '/p?c=R%2C100%2CG%2Ca%2Fb'],
    ['query', {}, [{ a: 1 }], '/p?c=%7B%22a%22%3A1%7D'],
    ['query', { style: 'pipeDelimited', explode: false }, [1, 2], '/p?c=1%7C2'],
    ['query', { style: 'spaceDelimited' }, [1, 2], '/p?c=1%202'],
    ['query', { style: 'deepObject' }, { a: { b: [1, 2] } }, '/p?c%5Ba%5D%5Bb%5D%5B%5D=1&c%5Ba%5D%5Bb%5D%5B%5D=2'],
    ['query', { style: 'deepObject' }, [{ a: 1 }, { a: 2 }], '/p?c%5B0%5D%5Ba%5D=1&c%5B1%5D%5Ba%5D=2'],
    ['header', {}, [1, 'b'], '1,b'],
    ['header', { explode: true }, color, 'R=100,G=a/b'],
  ])('in the %s, %j: %j is written as %s', (place, style, value, written) => {
    expect(at(place, style, value)).toBe(written);
  });

  test.each(['../admin', 'a/../../b', '..\\admin', '..%2fadmin', '%2e%2e/admin', './x', 'x/..'])(
    'a path parameter does not lead upwards: %s',
    (value) => expect(at('path', {}, value)).toBe('the path parameter `c` leads upwards'),
  );

  test.each(['a..b/c', 'v1.2/x', '...'])('%s leads nowhere else', (value) => {
    expect(at('path', {}, value)).toBe(`/p/${encodeURIComponent(value)}`);
  });
});

describe('forms', () => {
  const form = (type: string, media: JsonObject) => operation('/p', { requestBody: { content: { [type]: media } } });
  const urlencoded = (media: JsonObject, body: JsonObject): string | undefined => {
    const written = form('application/x-www-form-urlencoded', media).write({ body });
    return typeof written === 'string' ? written : decodeURIComponent(Buffer.from(written.body ?? []).toString());
  };

  test('objects are JSON, unless the document says how else', () => {
    const body = { a: { b: 1 }, c: [{ d: 2 }] };
    expect(urlencoded({}, body)).toBe('a={"b":1}&c={"d":2}');
    const deep = { style: 'deepObject', explode: true };
    expect(urlencoded({ encoding: { a: deep, c: deep } }, body)).toBe('a[b]=1&c[0][d]=2');
    expect(urlencoded({ encoding: { c: { contentType: 'application/json' } } }, { c: [1, 2] })).toBe('c=[1,2]');
    expect(urlencoded({ encoding: { c: { explode: false } } }, { c: [1, 2], x: null })).toBe('c=1,2');
  });

  test('of several parts have files, which tools take in base64', async () => {
    const properties = {
      file: { type: 'string', format: 'binary', description: 'A picture' },
      more: { type: 'array', items: { contentMediaType: 'image/png' } },
      note: { type: 'string' },
      meta: { type: 'object' },
      tags: { type: 'array', items: { type: 'string' } },
    };
    const encoding = { file: { contentType: 'image/png' } };
    const { tool, write } = form('multipart/form-data', { schema: { type: 'object', properties }, encoding });
    expect(tool?.inputSchema).toMatchObject({
      properties: {
        body: {
          properties: {
            file: { type: 'string', format: 'byte', description: 'A picture (in base64)' },
            more: { items: { type: 'string', format: 'byte' } },
          },
        },
      },
    });
    const bytes = Buffer.from([0, 255, 13, 10]);
    const written = write({
      body: { file: bytes.toString('base64'), more: [''], note: 'ü', meta: { a: 1 }, tags: ['x', 'y'], 'q"\r\n': 'z' },
    });
    if (typeof written === 'string') throw new Error(written);
    const type = written.headers['content-type'] ?? '';
    const read = await new Response(Buffer.from(written.body ?? []), { headers: { 'content-type': type } }).formData();
    const file = read.get('file');
    if (!(file instanceof Blob)) throw new Error('there is no file');
    expect([file.type, Buffer.from(await file.arrayBuffer())]).toEqual(['image/png', bytes]);
    expect([read.get('note'), read.get('meta'), read.getAll('tags')]).toEqual(['ü', '{"a":1}', ['x', 'y']]);
    expect([...read.keys()]).toEqual(['file', 'more', 'note', 'meta', 'tags', 'tags', 'q"\r\n']);
    expect(write({ body: { file: '%' } })).toBe('`file` in `body` is not in base64');
    expect(write({ body: 'x' })).toBe('`body` is no object');
  });

  test('a very long text that is no base64 is told at once', () => {
    const { write } = operation('/p', { requestBody: { content: { 'application/octet-stream': {} } } });
    expect(write({ body: `${' '.repeat(1_000_000)}%` })).toBe('`body` is not in base64');
  });
});

describe('answers are asked for', () => {
  test.each<readonly [JsonObject, string]>([
    [{}, 'application/json'],
    [{ 200: { content: { 'application/json': {}, 'application/xml': {} } } }, 'application/json'],
    [{ 200: { content: { 'image/png': {} } }, 404: { content: { 'text/x': {} } } }, 'application/json, image/png'],
    [{ 200: { content: { 'a\r\nb/c': {} } } }, 'application/json'],
    [{ 200: { $ref: '#/nowhere' } }, 'application/json'],
  ])('%j as %s', (responses, accept) => {
    expect(operation('/p', { responses }).write({})).toMatchObject({ headers: { accept } });
  });
});
