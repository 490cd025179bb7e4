import { describe, expect, test } from '@jest/globals';
import { shownBackendName } from '../../src/admin/views/backend-names.ts';

function shown(...names: string[]): string[] {
  const rows = names.map((name) => ({ name }));
  return rows.map(shownBackendName(rows));
}

describe('names of backends in tables', () => {
  test('a backend of its own keeps its name', () => {
    expect(shown('echo', 'team/echo')).toEqual(['echo', 'team/echo']);
  });

  test('a backend inside a route is named after the route', () => {
    expect(shown('gateway/default/default/echo/backend1', 'bind/80/web/default/shop/backend0')).toEqual([
      'echo/backend1',
      'shop/backend0',
    ]);
  });

  test('the endpoints of one backend share its name', () => {
    expect(shown('gateway/a/default/echo/backend1', 'gateway/a/default/echo/backend1')).toEqual([
      'echo/backend1',
      'echo/backend1',
    ]);
  });

  test('two that would read the same show as much of their keys as tells them apart', () => {
    expect(shown('gateway/a/default/echo/backend0', 'gateway/b/default/echo/backend0')).toEqual([
      'a/default/echo/backend0',
      'b/default/echo/backend0',
    ]);
    expect(shown('echo/backend0', 'gateway/a/default/echo/backend0')).toEqual([
      'echo/backend0',
      'default/echo/backend0',
    ]);
  });
});
