import { describe, expect, test } from '@jest/globals';

import { checkMcpRequest, checkMcpResponse } from '../../../proxy/services/messages/mcp.ts';
import { readExtMcp, writeExtMcp } from '../../services/ext-mcp.ts';

describe('questions about MCP calls', () => {
  test('are written as the definition reads them', () => {
    const bytes = checkMcpRequest.encode({
      serviceNames: ['time', 'everything'],
      method: 'tools/call',
      metadataContext: { team: 'red', tags: [1, null, true], deep: { a: 'b' } },
      mcpRequest: Buffer.from('{"name":"echo"}'),
      headers: [
        { key: 'x-team', value: Buffer.from('red') },
        { key: 'x-team', value: Buffer.from([0xff]) },
      ],
    });
    expect(readExtMcp('McpRequest', bytes)).toMatchObject({
      serviceNames: ['time', 'everything'],
      method: 'tools/call',
      metadataContext: {
        fields: {
          team: { stringValue: 'red' },
          deep: { structValue: { fields: { a: { stringValue: 'b' } } } },
        },
      },
      mcpRequest: Buffer.from('{"name":"echo"}'),
      headers: [
        { key: 'x-team', value: Buffer.from('red') },
        { key: 'x-team', value: Buffer.from([0xff]) },
      ],
    });
  });

  test('tell no parameters from empty ones', () => {
    const without = checkMcpRequest.encode({ serviceNames: [], method: 'tools/list', headers: [] });
    expect(readExtMcp('McpRequest', without)).toEqual({ method: 'tools/list' });
    const empty = checkMcpRequest.encode({
      serviceNames: [],
      method: 'tools/list',
      headers: [],
      mcpRequest: Buffer.from('{}'),
    });
    expect(readExtMcp('McpRequest', empty)).toHaveProperty('mcpRequest');
  });

  test('about answers carry the result', () => {
    const bytes = checkMcpResponse.encode({ serviceNames: ['a'], method: 'm', mcpResponse: Buffer.from('{}') });
    expect(readExtMcp('McpResponse', bytes)).toEqual({
      serviceNames: ['a'],
      method: 'm',
      mcpResponse: Buffer.from('{}'),
    });
  });
});

describe('verdicts about MCP calls', () => {
  test('are read as the definition writes them', () => {
    const bytes = writeExtMcp('McpRequestResult', {
      mutated: Buffer.from('{}'),
      headerMutation: { set: [{ key: 'x-a', value: Buffer.from('1') }], remove: ['x-b'] },
      metadata: { fields: { team: { stringValue: 'red' } } },
    });
    expect(checkMcpRequest.decode(bytes)).toMatchObject({
      result: 'mutated',
      mutated: Buffer.from('{}'),
      headerMutation: { set: [{ key: 'x-a', value: Buffer.from('1') }], remove: ['x-b'] },
      metadata: { team: 'red' },
    });
  });

  test.each([
    ['pass', { pass: {} }],
    ['mutated', { mutated: Buffer.alloc(0) }],
    ['error', { error: {} }],
    [undefined, {}],
  ])('say %s when that is set', (result, message) => {
    expect(checkMcpResponse.decode(writeExtMcp('McpResponseResult', message)).result).toBe(result);
    expect(checkMcpRequest.decode(writeExtMcp('McpRequestResult', message)).result).toBe(result);
  });

  test('have no metadata, and codes that are numbers, where the service says so', () => {
    expect(checkMcpRequest.decode(writeExtMcp('McpRequestResult', { pass: {} })).metadata).toBeNull();
    const unknown = Buffer.from([0x1a, 0x02, 0x08, 0x2a]);
    expect(checkMcpResponse.decode(unknown)).toMatchObject({ result: 'error', error: { code: 42, reason: '' } });
  });
});
