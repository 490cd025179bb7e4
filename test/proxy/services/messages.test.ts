import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { checkMethod } from '../../../proxy/services/messages/check.ts';
import { processMethod } from '../../../proxy/services/messages/process.ts';
import { shouldRateLimitMethod } from '../../../proxy/services/messages/rate-limit.ts';
import { fromStruct, toStruct } from '../../../proxy/services/messages/struct.ts';
import { structJson } from '../../services/envoy.ts';
import { readMessage, writeMessage } from '../../services/envoy-api.ts';

const struct = { fields: { team: { stringValue: 'red' }, size: { numberValue: 3 }, none: { nullValue: 0 } } };
const headerOptions = [
  { header: { key: 'x-a', value: '1' }, appendAction: 'ADD_IF_ABSENT' },
  { header: { key: 'x-b', rawValue: Buffer.from('2') }, append: { value: true }, keepEmptyValue: true },
];

describe('the check call', () => {
  test('is written as the public definition reads it', () => {
    const bytes = checkMethod.encode({
      source: { address: { socketAddress: { address: '10.0.0.1', portValue: 4000 } }, principal: 'spiffe://a/b' },
      destination: { address: { socketAddress: { address: '10.0.0.2', portValue: 443 } } },
      request: {
        time: { seconds: 1_700_000_000, nanos: 5 },
        http: {
          id: 'trace',
          method: 'POST',
          headers: { 'x-team': 'red' },
          path: '/a?b=c',
          host: 'shop.test',
          scheme: 'https',
          size: -1,
          protocol: 'HTTP/2',
          body: 'text',
          rawBody: Buffer.from([0, 255]),
        },
      },
      contextExtensions: { realm: 'shop' },
      metadataContext: { 'envoy.filters.http.jwt_authn': { jwt_payload: { sub: 'alice', ok: true, list: [1, null] } } },
      tlsSession: { sni: 'shop.test' },
    });
    const message = readMessage('envoy.service.auth.v3.CheckRequest', bytes);
    expect(message).toMatchObject({
      attributes: {
        source: { address: { socketAddress: { address: '10.0.0.1', portValue: 4000 } }, principal: 'spiffe://a/b' },
        destination: { address: { socketAddress: { address: '10.0.0.2', portValue: 443 } } },
        request: {
          time: { seconds: 1_700_000_000, nanos: 5 },
          http: { id: 'trace', method: 'POST', headers: { 'x-team': 'red' }, size: -1, body: 'text' },
        },
        contextExtensions: { realm: 'shop' },
        tlsSession: { sni: 'shop.test' },
      },
    });
    const metadata = Reflect.get(message['attributes'] as object, 'metadataContext') as {
      filterMetadata: Record<string, unknown>;
    };
    expect(structJson(metadata.filterMetadata['envoy.filters.http.jwt_authn'])).toEqual({
      jwt_payload: { sub: 'alice', ok: true, list: [1, null] },
    });
  });

  test('reads what the public definition writes', () => {
    const ok = writeMessage('envoy.service.auth.v3.CheckResponse', {
      status: { code: 0 },
      okResponse: {
        headers: headerOptions,
        headersToRemove: ['x-c'],
        dynamicMetadata: struct,
        responseHeadersToAdd: headerOptions,
        queryParametersToSet: [{ key: 'q', value: '1' }],
        queryParametersToRemove: ['r'],
      },
      dynamicMetadata: struct,
    });
    expect(checkMethod.decode(ok)).toMatchObject({
      status: { code: 0 },
      okResponse: {
        headers: [
          { header: { key: 'x-a', value: '1' }, appendAction: 'ADD_IF_ABSENT', append: null },
          { header: { key: 'x-b' }, append: { value: true }, appendAction: 'APPEND_IF_EXISTS_OR_ADD' },
        ],
        headersToRemove: ['x-c'],
        dynamicMetadata: { team: 'red', size: 3, none: null },
        queryParametersToSet: [{ key: 'q', value: '1' }],
        queryParametersToRemove: ['r'],
      },
      dynamicMetadata: { team: 'red', size: 3, none: null },
    });
    const denied = writeMessage('envoy.service.auth.v3.CheckResponse', {
      status: { code: 7, message: 'no' },
      deniedResponse: { status: { code: 401 }, headers: headerOptions, body: 'who are you' },
    });
    expect(checkMethod.decode(denied)).toMatchObject({
      status: { code: 7, message: 'no' },
      deniedResponse: { status: { code: 401 }, body: 'who are you' },
      dynamicMetadata: null,
    });
    expect(checkMethod.decode(new Uint8Array(0))).toMatchObject({ status: null, dynamicMetadata: null });
  });
});

describe('the rate limit call', () => {
  test('is written as the public definition reads it', () => {
    const bytes = shouldRateLimitMethod.encode({
      domain: 'shop',
      descriptors: [
        { entries: [{ key: 'user', value: 'alice' }], limit: { requestsPerUnit: 7, unit: 'HOUR' } },
        { entries: [{ key: 'path', value: '/' }], hitsAddend: { value: 5 } },
      ],
      hitsAddend: 2,
    });
    expect(readMessage('envoy.service.ratelimit.v3.RateLimitRequest', bytes)).toEqual({
      domain: 'shop',
      descriptors: [
        { entries: [{ key: 'user', value: 'alice' }], limit: { requestsPerUnit: 7, unit: 'HOUR' } },
        { entries: [{ key: 'path', value: '/' }], hitsAddend: { value: 5 } },
      ],
      hitsAddend: 2,
    });
  });

  test('reads what the public definition writes', () => {
    const bytes = writeMessage('envoy.service.ratelimit.v3.RateLimitResponse', {
      overallCode: 'OVER_LIMIT',
      statuses: [
        {
          code: 'OVER_LIMIT',
          currentLimit: { name: 'n', requestsPerUnit: 10, unit: 'MINUTE' },
          limitRemaining: 3,
          durationUntilReset: { seconds: 42, nanos: 500_000_000 },
        },
      ],
      responseHeadersToAdd: [{ key: 'x-a', value: '1' }],
      requestHeadersToAdd: [{ key: 'x-b', value: '2' }],
      rawBody: Buffer.from('slow down'),
      dynamicMetadata: struct,
    });
    expect(shouldRateLimitMethod.decode(bytes)).toMatchObject({
      overallCode: 'OVER_LIMIT',
      statuses: [
        {
          code: 'OVER_LIMIT',
          currentLimit: { name: 'n', requestsPerUnit: 10, unit: 'MINUTE' },
          limitRemaining: 3,
          durationUntilReset: { seconds: 42, nanos: 500_000_000 },
        },
      ],
      responseHeadersToAdd: [{ key: 'x-a', value: '1' }],
      requestHeadersToAdd: [{ key: 'x-b', value: '2' }],
      rawBody: Buffer.from('slow down'),
      dynamicMetadata: { team: 'red', size: 3, none: null },
    });
  });
});

describe('the processing stream', () => {
  const headers = {
    headers: [
      { key: ':method', value: 'GET' },
      { key: 'x-a', rawValue: Buffer.from('é', 'latin1') },
    ],
  };

  test.each([
    [{ requestHeaders: { headers, endOfStream: true } }],
    [{ responseHeaders: { headers, endOfStream: false } }],
    [{ requestBody: { body: Buffer.from('abc'), endOfStream: false } }],
    [{ responseBody: { body: Buffer.from('z'), endOfStream: true } }],
    [{ requestTrailers: { trailers: headers } }],
    [{ responseTrailers: { trailers: headers } }],
  ])('writes %j as the public definition reads it', (part) => {
    const bytes = processMethod.encode({
      ...part,
      metadataContext: { ns: { a: 1 } },
      attributes: { 'envoy.filters.http.ext_proc': { path: '/' } },
      protocolConfig: { requestBodyMode: 'FULL_DUPLEX_STREAMED', responseBodyMode: 'BUFFERED' },
    });
    expect(withoutFalse(readMessage('envoy.service.ext_proc.v3.ProcessingRequest', bytes))).toEqual(
      withoutFalse({
        ...part,
        metadataContext: { filterMetadata: { ns: { fields: { a: { numberValue: 1 } } } } },
        attributes: { 'envoy.filters.http.ext_proc': { fields: { path: { stringValue: '/' } } } },
        protocolConfig: { requestBodyMode: 'FULL_DUPLEX_STREAMED', responseBodyMode: 'BUFFERED' },
      }),
    );
  });

  test('reads what the public definition writes', () => {
    const read = (message: object) =>
      processMethod.decode(writeMessage('envoy.service.ext_proc.v3.ProcessingResponse', message));
    const headerMutation = { setHeaders: headerOptions, removeHeaders: ['x-z'] };
    expect(
      read({
        requestHeaders: { response: { headerMutation } },
        dynamicMetadata: struct,
        modeOverride: { requestBodyMode: 'BUFFERED', responseHeaderMode: 'SKIP' },
      }),
    ).toMatchObject({
      requestHeaders: { response: { headerMutation: { removeHeaders: ['x-z'] } } },
      dynamicMetadata: { team: 'red' },
      modeOverride: { requestBodyMode: 'BUFFERED', responseHeaderMode: 'SKIP', requestHeaderMode: 'DEFAULT' },
    });
    expect(read({ requestBody: { response: { bodyMutation: { body: Buffer.from('new') } } } })).toMatchObject({
      requestBody: { response: { bodyMutation: { body: Buffer.from('new') } } },
    });
    expect(read({ responseBody: { response: { bodyMutation: { clearBody: true } } } })).toMatchObject({
      responseBody: { response: { bodyMutation: { clearBody: true } } },
    });
    const streamed = { streamedResponse: { body: Buffer.from('part'), endOfStream: true } };
    expect(read({ responseBody: { response: { bodyMutation: streamed } } })).toMatchObject({
      responseBody: { response: { bodyMutation: streamed } },
    });
    expect(read({ responseTrailers: { headerMutation } })).toMatchObject({
      responseTrailers: { headerMutation: { removeHeaders: ['x-z'] } },
    });
    expect(
      read({
        immediateResponse: {
          status: { code: 403 },
          headers: headerMutation,
          body: Buffer.from('no'),
          grpcStatus: { status: 7 },
          details: 'denied',
        },
      }),
    ).toMatchObject({
      immediateResponse: {
        status: { code: 403 },
        body: Buffer.from('no'),
        grpcStatus: { status: 7 },
        details: 'denied',
      },
    });
  });

  test('refuses bytes that are no message', () => {
    expect(() => processMethod.decode(Buffer.from([0x0a, 0x7f, 1]))).toThrow();
  });

  test('refuses metadata that is nested without end', () => {
    let bytes: Buffer = Buffer.from([0x10, 0x01]);
    // Structs inside lists inside values: each level wraps the one before.
    for (let depth = 0; depth < 2000; depth++) bytes = wrap(6, wrap(1, bytes));
    const struct = wrap(1, Buffer.concat([Buffer.from([0x0a, 0x01, 0x61]), wrap(2, bytes)]));
    expect(() => processMethod.decode(wrap(8, struct))).toThrow('max depth exceeded');
  });
});

test('JSON survives the way to a Struct and back', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      // `as`: the generator makes JSON.
      const json = JSON.parse(JSON.stringify(object)) as Record<string, never>;
      expect(fromStruct(toStruct(json))).toEqual(json);
    }),
  );
});

/** Defaults are not written, whichever side says them. */
function withoutFalse(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => (inner === false || inner === '' ? undefined : inner)),
  );
}

/** A length-delimited field. */
function wrap(id: number, bytes: Buffer): Buffer {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128);
  length.push(rest);
  return Buffer.concat([Buffer.from([id * 8 + 2, ...length]), bytes]);
}
