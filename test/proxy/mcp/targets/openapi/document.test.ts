import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { compileDocument } from '../../../../../proxy/mcp/targets/openapi/document.ts';
import type { JsonObject, JsonValue } from '../../../../../src/shared/json.ts';
import { petShop } from './shop.ts';

const ok = { responses: { 200: { description: 'ok' } } };

function withPaths(paths: JsonValue, more: JsonObject = {}): JsonObject {
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, ...more };
}

function withOperation(operation: JsonObject, more: JsonObject = {}): JsonObject {
  return withPaths({ '/a': { get: { operationId: 'a', ...ok, ...operation } } }, more);
}

/** A body of the schema `A`, among others. */
function withSchemas(schemas: JsonObject): JsonObject {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/A' } } };
  return withOperation({ requestBody: { content } }, { components: { schemas } });
}

function bodySchema(document: JsonObject): unknown {
  const [tool] = compileDocument(document).tools as readonly { inputSchema: { properties: { body: unknown } } }[]; // as built above
  return tool?.inputSchema.properties.body;
}

describe('tools of a document', () => {
  const { tools, left, title, version } = compileDocument(petShop());
  const byName = new Map(tools.map((tool) => [tool.name, tool]));

  test('there is one for each operation that can be called', () => {
    expect([...byName.keys()]).toEqual(['listPets', 'addPet', 'getPet', 'removePet', 'setPortrait', 'order']);
    expect(left).toEqual(['POST /uploads (upload): no tool can write a body of multipart/mixed']);
    expect([title, version]).toEqual(['Pet shop', '1.4.0']);
  });

  test('they say what the operation says', () => {
    expect(byName.get('listPets')).toMatchObject({
      title: 'Pets that are there',
      description: 'Lists the pets of a shop, the youngest first.',
    });
    const { title: long = '', description } = byName.get('addPet') ?? {};
    expect(Buffer.byteLength(String(long))).toBe(64);
    expect(description).toBe('A pet that has just come in, with everything that is known of its parents and its food');
    expect(byName.get('removePet')).toMatchObject({ description: 'removePet' });
    expect(byName.get('removePet')).not.toHaveProperty('title');
  });

  test('a title is cut between characters', () => {
    const summary = `${'x'.repeat(63)}é`;
    expect(compileDocument(withOperation({ summary })).tools[0]?.title).toBe('x'.repeat(63));
  });

  test('parameters are grouped by their place, those of the operation before those of the path', () => {
    expect(byName.get('getPet')?.inputSchema).toEqual({
      type: 'object',
      properties: {
        header: { type: 'object', properties: { 'X-Trace': { type: 'string' } }, required: ['X-Trace'] },
        path: {
          type: 'object',
          properties: { petId: { type: 'string', description: 'Number or name' } },
          required: ['petId'],
        },
      },
      required: ['header', 'path'],
    });
  });

  test('a parameter that only the path names is one too', () => {
    expect(byName.get('setPortrait')?.inputSchema).toMatchObject({
      properties: { path: { required: ['petId', 'view'] }, body: { type: 'string', format: 'byte' } },
      required: ['path'],
    });
  });

  test('schemas are those of JSON Schema, and every client can read them', () => {
    const ajv = new Ajv2020({ strictTypes: false, formats: { byte: true } });
    for (const { inputSchema } of tools) expect(typeof ajv.compile(inputSchema as object)).toBe('function'); // an object it is
    expect(byName.get('listPets')?.inputSchema).toMatchObject({
      properties: { query: { properties: { limit: { type: 'integer', exclusiveMinimum: 0 } } } },
    });
  });

  test('a schema that contains itself is a definition where it comes back', () => {
    expect(byName.get('addPet')?.inputSchema).toMatchObject({
      properties: {
        body: {
          type: 'object',
          properties: {
            name: { type: ['string', 'null'] },
            food: { type: 'string', enum: ['hay', 'fish'] },
            mother: { $ref: '#/$defs/Pet' },
            siblings: { type: 'array', items: { $ref: '#/$defs/Pet' } },
          },
          required: ['name'],
        },
      },
      required: ['body', 'header'],
    });
    expect(JSON.stringify(tools)).not.toMatch(/example|xml|discriminator|nullable/);
  });

  test('definitions that lead to others bring them along, and what contains nothing of itself is written out', () => {
    const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
    const schemas = {
      Tree: {
        type: 'object',
        properties: { leaf: ref('Leaf'), other: ref('a~1b'), up: { ...ref('Tree'), description: 'up' } },
      },
      'a/b': { type: 'array', items: ref('Odd%20one') },
      'Odd one': { anyOf: [ref('a~1b'), { type: 'null' }] },
      Leaf: { type: 'string' },
    };
    const tool = (name: string) => {
      const content = { 'application/json': { schema: { type: 'object', properties: { x: ref(name) } } } };
      return compileDocument(withOperation({ requestBody: { content } }, { components: { schemas } })).tools[0]
        ?.inputSchema;
    };
    expect(tool('Leaf')).not.toHaveProperty('$defs');
    const schema = tool('Tree');
    expect(schema).toMatchObject({
      properties: { body: { properties: { x: { $ref: '#/$defs/Tree' } } } },
      $defs: {
        Tree: {
          properties: {
            leaf: { type: 'string' },
            other: { $ref: '#/$defs/a_1b' },
            up: { $ref: '#/$defs/Tree', description: 'up' },
          },
        },
        a_1b: { type: 'array', items: { $ref: '#/$defs/Odd_20one' } },
      },
    });
    const validate = new Ajv2020().compile(schema as object); // an object it is
    expect(validate({ body: { x: { leaf: 'a', up: { leaf: 'b', other: [[], null] } } } })).toBe(true);
    expect(validate({ body: { x: { up: { up: { leaf: 1 } } } } })).toBe(false);
  });

  test('what only answers have is nothing that tools take', () => {
    const { Id, A } = {
      Id: { type: 'integer', readOnly: true },
      A: {
        type: 'object',
        properties: {
          id: { $ref: '#/components/schemas/Id' },
          at: { type: 'string', readOnly: true },
          name: { type: 'string' },
        },
        required: ['id', 'at', 'name'],
      },
    };
    expect(bodySchema(withSchemas({ Id, A }))).toEqual({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    });
  });

  test('words that mean nothing are left out, so that validators take the rest', () => {
    const A = {
      type: 'object',
      properties: {
        a: { type: 'string', required: true, maxLength: '3', examples: 'x', pattern: null },
        b: { type: 'file', enum: [], oneOf: [], minimum: null },
        c: { type: ['string', 'string'], description: 7, default: 7 },
      },
      required: ['a', 'a'],
    };
    const schema = bodySchema(withSchemas({ A }));
    expect(schema).toEqual({ type: 'object', properties: { a: { type: 'string' }, b: {}, c: { default: 7 } } });
  });

  test('names of tools are those that MCP allows, whatever the order of operations', () => {
    const long = 'x'.repeat(200);
    const ids = ['repos/list', 'repos_list', 'get pet', 'é.b', 'Ü.b', 'a-b.C_1', long];
    const named = (order: readonly string[]): Record<string, unknown> => {
      const paths = Object.fromEntries(
        order.map((operationId) => [
          `/${encodeURIComponent(operationId)}`,
          { get: { operationId, summary: operationId } },
        ]),
      );
      return Object.fromEntries(
        compileDocument(withPaths(paths)).tools.map(({ description, name }) => [String(description), name]),
      );
    };
    const names = named(ids);
    expect(names).toEqual({
      'repos/list': expect.stringMatching(/^repos_list_[0-9a-f]{8}$/),
      repos_list: 'repos_list',
      'get pet': 'get_pet',
      'é.b': expect.stringMatching(/^_\.b_[0-9a-f]{8}$/),
      'Ü.b': expect.stringMatching(/^_\.b_[0-9a-f]{8}$/),
      'a-b.C_1': 'a-b.C_1',
      [long]: expect.stringMatching(/^x{119}_[0-9a-f]{8}$/),
    });
    expect(named(ids.toReversed())).toEqual(names);
  });

  test('methods say what calls may do', () => {
    const methods = ['get', 'post', 'put', 'patch', 'delete'];
    const item = Object.fromEntries(methods.map((method) => [method, { operationId: method }]));
    const { tools: all } = compileDocument(withPaths({ '/a': item }));
    expect(Object.fromEntries(all.map(({ name, annotations }) => [String(name), annotations]))).toEqual({
      get: { readOnlyHint: true },
      post: { readOnlyHint: false },
      put: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      patch: { readOnlyHint: false },
      delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    });
  });

  test('what stands beside a reference holds too', () => {
    const components = { schemas: { B: { type: 'string', description: 'b' } } };
    const schema = (beside: JsonObject) =>
      bodySchema(
        withOperation(
          {
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/B', ...beside } } } },
          },
          { components },
        ),
      );
    expect(schema({ description: 'mine' })).toEqual({ type: 'string', description: 'mine' });
    expect(schema({ minLength: 2 })).toEqual({ minLength: 2, allOf: [{ type: 'string', description: 'b' }] });
  });

  test('values that look like schemas are left alone', () => {
    const schema = {
      type: 'object',
      properties: { $ref: { type: 'string' } },
      default: { $ref: 'x' },
      const: { nullable: true },
    };
    expect(bodySchema(withSchemas({ A: schema }))).toEqual(schema);
  });
});

describe('documents that no tools can be made from', () => {
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['no object', [], /expected an object/],
    ['nothing', null, /expected an object/],
    ['an older version', { swagger: '2.0', paths: {} }, /expected a version 3.x, found swagger 2.0/],
    ['an operation without a name', withPaths({ '/a': { get: ok } }), /GET \/a: operationId is missing/],
    [
      'two of one name',
      withPaths({ '/a': { get: { operationId: 'a' }, put: { operationId: 'a' } } }),
      /PUT \/a: another operation is called a/,
    ],
    ['a cookie', withOperation({ parameters: [{ name: 's', in: 'cookie' }] }), /GET \/a, parameter s: cookies/],
    [
      'a parameter with content',
      withOperation({ parameters: [{ name: 's', in: 'query', content: {} }] }),
      /with `content`/,
    ],
    [
      'a parameter of no place',
      withOperation({ parameters: [{ name: 's', in: 'body' }] }),
      /none of path, query, header/,
    ],
    ['a header of no name', withOperation({ parameters: [{ name: 'a b', in: 'header' }] }), /none of a header/],
    ['several servers', withOperation({}, { servers: [{ url: '/a' }, { url: '/b' }] }), /several servers/],
    [
      'a reference into another file',
      withOperation({ parameters: [{ $ref: 'other.yaml#/a' }] }),
      /does not begin with #\/components\//,
    ],
    ['a reference to nothing', withOperation({ parameters: [{ $ref: '#/components/parameters/p' }] }), /leads nowhere/],
    [
      'a reference to what every object has',
      withOperation({ parameters: [{ $ref: '#/components/constructor' }] }),
      /leads nowhere/,
    ],
    [
      'references that lead to each other',
      withSchemas({ A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } }),
      /leads back to itself/,
    ],
    ['a schema that is none', withSchemas({ A: 'string' }), /a schema is an object or a boolean/],
    ['a path with a query', withPaths({ '/a?b=1': { get: { operationId: 'a' } } }), /neither \? nor #/],
    ['an endless list', withPaths({ '/a': { get: { operationId: 'a', parameters: {} } } }), /is no list/],
  ];
  test.each(cases)('%s', (_, document, message) => {
    expect(() => compileDocument(document)).toThrow(message);
  });
});

describe('hostile documents', () => {
  test('a document inside itself is refused', () => {
    const document: Record<string, unknown> = { openapi: '3.0.0' };
    document.paths = document;
    expect(() => compileDocument(document)).toThrow('more than 200 levels deep');
  });

  test('one that is very deep is refused', () => {
    let schema: JsonObject = { type: 'string' };
    for (let i = 0; i < 50_000; i++) schema = { items: schema };
    expect(() => compileDocument(withSchemas({ A: schema }))).toThrow('more than 200 levels deep');
  });

  test('schemas that double at every level stay small', () => {
    const level = (i: number): JsonObject => ({
      type: 'object',
      properties: { a: { $ref: `#/components/schemas/${i + 1}` }, b: { $ref: `#/components/schemas/${i + 1}` } },
    });
    const levels = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}`, level(i)]));
    const written = JSON.stringify(
      bodySchema(withSchemas({ ...levels, 40: { type: 'string' }, A: { $ref: '#/components/schemas/0' } })),
    );
    expect(written.length).toBeLessThan(500_000);
    expect(written).toContain('"type":"object"');
  });

  test('names of prototypes are names', () => {
    const document =
      JSON.parse(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/{__proto__}":{"get":{"operationId":"__proto__",
      "parameters":[{"name":"__proto__","in":"query","schema":{"type":"string"}},{"name":"constructor","in":"query"}],
      "requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"__proto__":{"type":"number"}}}}}}}}}}`);
    const { tools, plans } = compileDocument(document);
    const path = { name: '__proto__', required: true, style: 'simple', explode: false };
    expect(plans.get('__proto__')?.path).toEqual(['/', path, '']);
    expect(JSON.stringify(tools)).toContain(
      '"query":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}',
    );
    expect(JSON.stringify(tools)).toContain('"properties":{"__proto__":{"type":"number"}}');
    expect(({} as { type?: unknown }).type).toBeUndefined(); // nothing was put on all objects
  });

  test('ten thousand operations that share a large schema are compiled', () => {
    const wide = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { type: 'string' }])),
    };
    const requestBody = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Wide' } } } };
    const paths = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`/p${i}`, { post: { operationId: `op${i}`, requestBody } }]),
    );
    expect(compileDocument(withPaths(paths, { components: { schemas: { Wide: wide } } })).plans.size).toBe(10_000);
  });
});
