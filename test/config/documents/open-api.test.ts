import { describe, expect, test } from '@jest/globals';
import { readOpenApi } from '../../../src/config/documents/open-api-text.ts';

const nested = (levels: number) =>
  '{"openapi":"3.0.0","paths":' + '{"a":'.repeat(levels) + '1' + '}'.repeat(levels + 1);

describe('an OpenAPI document', () => {
  test.each([
    ['JSON', '{"openapi":"3.1.0","paths":{}}', { openapi: '3.1.0', paths: {} }],
    [
      'YAML',
      'openapi: 3.0.3\npaths:\n  /a: &a {get: {}}\n  /b: *a\n',
      { openapi: '3.0.3', paths: { '/a': { get: {} }, '/b': { get: {} } } },
    ],
    ['version 3.2', '{"openapi":"3.2.0","paths":{}}', { openapi: '3.2.0', paths: {} }],
  ])('is read from %s', (_name, text, document) => {
    expect(readOpenApi(text)).toEqual({ document });
  });

  test.each([
    ['', 'not an object'],
    ['[]', 'not an object'],
    ['null', 'not an object'],
    ['{', 'neither JSON nor YAML'],
    ['a: &a [*a]', 'neither JSON nor YAML'],
    ['{"swagger":"2.0"}', 'Swagger 2'],
    ['{"openapi":3.0,"paths":{}}', 'openapi: 3'],
    ['{"openapi":"2.0","paths":{}}', 'openapi: 3'],
    ['{"openapi":"3.0.0","paths":[]}', 'no `paths`'],
    ['{"openapi":"3.0.0","paths":{},"\\u0000secret":"x"}', 'NUL'],
    [nested(200), 'deeper than 100'],
    [nested(200_000), 'deeper than 100'],
    [' '.repeat(16 * 1024 * 1024 + 1), 'larger than 16 MiB'],
  ])('of another form is refused with a reason', (text, reason) => {
    expect(readOpenApi(text)).toContain(reason);
  });
});
