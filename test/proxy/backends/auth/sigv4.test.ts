import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { sha256, signV4 } from '../../../../proxy/backends/auth/aws/sigv4.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { vendorSignature } from './aws-verifier.ts';

const at = new Date('2026-03-04T05:06:07.089Z');
const keys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
};
const scope = { region: 'eu-west-1', service: 'execute-api' };

interface Case {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string | string[]>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function theirs(each: Case, service: string, sessionToken?: string): Promise<string> {
  const { accessKeyId, secretAccessKey } = keys;
  return vendorSignature(
    { ...each, headers: { host: 'api.example.com', ...each.headers } },
    {
      keys: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
      region: scope.region,
      service,
      at,
    },
  );
}

function ours(
  { method, path, query, headers, body }: Case,
  service: string,
  sessionToken: string | null = null,
): Headers {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  );
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
  const fields = Headers.from(Object.entries(headers));
  const parts = { method, authority: 'api.example.com', target, headers: fields, bodyHash: sha256(body) };
  signV4(parts, { ...keys, sessionToken }, { scope: { ...scope, service }, at });
  return fields;
}

const plain: Case = { method: 'GET', path: '/', query: {}, headers: {}, body: '' };

describe("a signature is that of the vendor's library", () => {
  test.each<[string, Partial<Case>]>([
    ['of the root', {}],
    ['of a path with dots and empty parts', { path: '/a//b/./c/../d/' }],
    ['of an encoded path, encoded once more', { path: '/model/anthropic.claude%3A0/in%20voke/ü' }],
    ['of characters that are encoded in one place only', { path: "/!'()*~-_.", query: { "!'()*~": "!'()*~-_. +%" } }],
    ['of repeated and unsorted parameters', { query: { b: ['2', '10', '1'], a: 'x', B: 'y', 'a-': '', aa: 'z' } }],
    [
      'of a body',
      { method: 'POST', headers: { 'content-type': 'application/json; charset=utf-8' }, body: '{"a":"ü"}' },
    ],
    [
      'of headers with spaces',
      { headers: { 'x-amz-meta-a': '  a   b  ', 'x-amzn-trace-id': 'Root=1', 'x-amzn-b': 'c' } },
    ],
  ])('%s', async (_name, change) => {
    const each = { ...plain, ...change };
    expect(ours(each, scope.service).get('authorization')).toBe(await theirs(each, scope.service));
  });

  test('with a session token', async () => {
    const headers = ours(plain, scope.service, 'token+/=');
    expect(headers.get('x-amz-security-token')).toBe('token+/=');
    expect(headers.get('x-amz-date')).toBe('20260304T050607Z');
    expect(headers.get('authorization')).toBe(await theirs(plain, scope.service, 'token+/='));
  });

  test('for the service that takes paths as they are and wants the hash', async () => {
    const each = { ...plain, method: 'PUT', path: '/bucket//a%20b/../c', body: 'x' };
    const headers = ours(each, 's3');
    expect(headers.get('x-amz-content-sha256')).toBe(sha256('x'));
    expect(headers.get('authorization')).toBe(await theirs(each, 's3'));
  });

  test('of any path, query and body', async () => {
    const segment = fc
      .string({ unit: 'grapheme', maxLength: 8 })
      .map((text) => encodeURIComponent(text.toWellFormed()));
    const name = fc
      .string({ minLength: 1, maxLength: 5 })
      .filter((text) => text !== '__proto__' && text.toLowerCase() !== 'x-amz-signature');
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { maxLength: 4 }),
        fc.dictionary(name, fc.array(fc.string({ maxLength: 5 }), { minLength: 1, maxLength: 3 }), {
          maxKeys: 4,
          noNullPrototype: true,
        }),
        fc.string({ maxLength: 30 }),
        async (segments, query, body) => {
          const each = { ...plain, method: 'POST', path: `/${segments.join('/')}`, query, body };
          expect(ours(each, scope.service).get('authorization')).toBe(await theirs(each, scope.service));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('signing', () => {
  test('replaces signatures that the client sent', () => {
    const fields = Headers.from([
      ['authorization', 'AWS4-HMAC-SHA256 theirs'],
      ['x-amz-date', 'x'],
      ['x-amz-security-token', 'theirs'],
      ['x-amz-content-sha256', 'theirs'],
    ]);
    signV4({ method: 'GET', authority: 'h', target: '/', headers: fields, bodyHash: sha256('') }, keys, { scope, at });
    expect([...fields].map(([name]) => name).sort()).toEqual(['authorization', 'x-amz-date']);
    expect(fields.get('authorization')).not.toContain('theirs');
  });
});
