import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import {
  versionIn,
  withEnvelope,
  withMeta,
  withoutClientFeatures,
  withoutEnvelope,
} from '../../../../proxy/mcp/message/meta.ts';
import { isModernMethod, itemNameOf } from '../../../../proxy/mcp/message/methods.ts';
import { resultFor } from '../../../../proxy/mcp/message/result-fields.ts';
import { withTraceContext } from '../../../../proxy/mcp/message/trace-context.ts';
import { eraOf, isKnownVersion, versionsOf } from '../../../../proxy/mcp/message/versions.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const INFO = 'io.modelcontextprotocol/clientInfo';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

describe('the envelope of modern requests', () => {
  const envelope = {
    version: '2026-07-28',
    clientInfo: { name: 'c', version: '1' },
    clientCapabilities: { roots: {} },
  };
  const inside = { [VERSION]: '2026-07-28', [INFO]: { name: 'c', version: '1' }, [CAPABILITIES]: { roots: {} } };

  test('is put around a request, and taken off again', () => {
    const wrapped = withEnvelope({ name: 'echo', _meta: { progressToken: 7 } }, envelope);
    expect(wrapped).toEqual({ name: 'echo', _meta: { progressToken: 7, ...inside } });
    expect(withoutEnvelope(wrapped)).toEqual({ name: 'echo', _meta: { progressToken: 7 } });
    expect(withEnvelope(undefined, envelope)).toEqual({ _meta: inside });
    expect(withoutEnvelope({ _meta: inside })).toEqual({});
  });

  test('leaves a request alone that has none', () => {
    const params = { _meta: { progressToken: 7 } };
    expect(withoutEnvelope(params)).toBe(params);
    expect(withoutEnvelope(undefined)).toBeUndefined();
  });

  test('does not change what it is given', () => {
    const params = Object.freeze({ _meta: Object.freeze({ a: 1 }) });
    expect(withMeta(params, { b: 2, a: undefined })).toEqual({ _meta: { b: 2 } });
  });

  test('names the version, as the handshake does', () => {
    expect(versionIn('initialize', { protocolVersion: '2025-06-18', _meta: { [VERSION]: '2026-07-28' } })).toBe(
      '2025-06-18',
    );
    expect(versionIn('tools/list', { _meta: { [VERSION]: '2026-07-28' } })).toBe('2026-07-28');
    expect(versionIn('tools/list', { protocolVersion: '2025-06-18' })).toBeNull();
    expect(versionIn('initialize', { protocolVersion: 7 })).toBeNull();
    expect(versionIn('tools/list', { _meta: [] })).toBeNull();
  });
});

describe('what a legacy client offers', () => {
  const offered = {
    roots: { listChanged: true },
    sampling: {},
    elicitation: {},
    experimental: { x: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  };

  test('is reduced in its handshake', () => {
    expect(withoutClientFeatures('initialize', { protocolVersion: '2025-06-18', capabilities: offered })).toEqual({
      protocolVersion: '2025-06-18',
      capabilities: { experimental: { x: {} } },
    });
  });

  test('is reduced in its envelope, and other extensions stay', () => {
    const more = { ...offered, extensions: { ...offered.extensions, 'com.example/x': { a: 1 } } };
    expect(withoutClientFeatures('tools/call', { name: 'echo', _meta: { [CAPABILITIES]: more } })).toEqual({
      name: 'echo',
      _meta: { [CAPABILITIES]: { experimental: { x: {} }, extensions: { 'com.example/x': { a: 1 } } } },
    });
  });

  test('is only looked for where it stands', () => {
    const params = { capabilities: offered };
    expect(withoutClientFeatures('tools/call', params)).toBe(params);
    expect(withoutClientFeatures('initialize', undefined)).toBeUndefined();
  });
});

describe('resultFor', () => {
  test('takes from legacy clients what they do not know', () => {
    const result = { tools: [], resultType: 'complete', ttlMs: 5, cacheScope: 'public', nextCursor: 'c' };
    expect(resultFor('legacy', 'tools/list', result)).toEqual({ tools: [], nextCursor: 'c' });
    const plain = { tools: [] };
    expect(resultFor('legacy', 'tools/list', plain)).toBe(plain);
  });

  test('tells modern clients to keep no list', () => {
    expect(resultFor('modern', 'tools/list', { tools: [], ttlMs: 5, cacheScope: 'public' })).toEqual({
      tools: [],
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect(resultFor('modern', 'tools/call', { content: [], resultType: 'input_required' })).toEqual({
      content: [],
      resultType: 'input_required',
    });
  });
});

describe('withTraceContext', () => {
  test('takes along what the headers tell', () => {
    const headers = Headers.from([
      ['traceparent', '00-a-b-01'],
      ['baggage', 'k=v'],
      ['x-other', '1'],
    ]);
    expect(withTraceContext({ name: 'x', _meta: { traceparent: 'old', progressToken: 1 } }, headers)).toEqual({
      name: 'x',
      _meta: { traceparent: '00-a-b-01', baggage: 'k=v', progressToken: 1 },
    });
    expect(withTraceContext(undefined, new Headers())).toBeUndefined();
  });
});

describe('versions and methods', () => {
  test('have their era', () => {
    expect(versionsOf('legacy')).toEqual(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']);
    expect(versionsOf('modern')).toEqual(['2026-07-28']);
    expect(eraOf('2027-01-01')).toBe('modern');
    expect(isKnownVersion('2027-01-01')).toBe(false);
    expect(isModernMethod('server/discover')).toBe(true);
    for (const gone of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'constructor', ''])
      expect(isModernMethod(gone)).toBe(false);
  });

  test('name their item', () => {
    expect(itemNameOf('tools/call', { name: 'echo' })).toBe('echo');
    expect(itemNameOf('tasks/get', { taskId: 't' })).toBe('t');
    expect(itemNameOf('tools/call', { name: 7 })).toBeUndefined();
    expect(itemNameOf('tools/list', { name: 'echo' })).toBeNull();
    expect(itemNameOf('constructor', {})).toBeNull();
  });
});
