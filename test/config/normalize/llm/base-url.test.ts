import { describe, expect, test } from '@jest/globals';

import { parseBaseUrl } from '../../../../src/config/normalize/llm/base-url.ts';
import { presets } from '../../../../src/config/normalize/llm/presets.ts';

describe('the address of a provider', () => {
  test.each([
    ['https://api.example.com', 'api.example.com', 443, true, undefined],
    ['https://api.example.com/', 'api.example.com', 443, true, undefined],
    ['https://API.example.com:8443/openai/v1//', 'api.example.com', 8443, true, '/openai/v1'],
    ['http://localhost:11434/v1', 'localhost', 11434, false, '/v1'],
    ['http://10.0.0.1', '10.0.0.1', 80, false, undefined],
    ['http://[::1]:8000/v1', '::1', 8000, false, '/v1'],
  ])('%s is taken apart', (text, host, port, tls, prefix) => {
    expect(parseBaseUrl(text)).toEqual({ target: { kind: 'tcp', host, port }, tls, prefix });
  });

  test.each([
    '',
    'api.example.com',
    'ftp://h',
    'https://u@h',
    'https://u:p@h',
    'https://h?',
    'https://h/#',
    'https://h/?a=b',
  ])('%p is refused', (text) => {
    expect(typeof parseBaseUrl(text)).toBe('string');
  });

  test('of every preset can be read', () => {
    for (const { baseUrl } of Object.values(presets)) expect(parseBaseUrl(baseUrl)).toMatchObject({ target: {} });
  });
});
