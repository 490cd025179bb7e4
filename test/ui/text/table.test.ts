import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { width } from '../../../ui/terminal/text.ts';
import { colourPaint, wantsColour } from '../../../ui/text/paint.ts';
import { renderPairs, renderTable, type Column } from '../../../ui/text/table.ts';

interface Row {
  readonly name: string;
  readonly path: string;
}

const columns: readonly Column<Row>[] = [
  { title: 'NAME', value: (row) => row.name },
  { title: 'PATH', value: (row) => row.path },
];
const rows: readonly Row[] = [
  { name: 'a', path: '/a/very/long/path/that/does/not/fit/anywhere/at/all/really/not/index.html' },
  { name: '商店🙂', path: '/短い' },
];

describe('a table', () => {
  test('cuts nothing where there is no width', () => {
    expect(renderTable(columns, rows)).toBe(
      'NAME    PATH\na       /a/very/long/path/that/does/not/fit/anywhere/at/all/really/not/index.html\n商店🙂  /短い\n',
    );
  });

  test('cuts the middle of its widest column to fit a terminal', () => {
    expect(renderTable(columns, rows, { width: 40 })).toBe(
      'NAME    PATH\na       /a/very/long/pat…/not/index.html\n商店🙂  /短い\n',
    );
  });

  test('fits any width that its gaps leave room in, whatever is in it', () => {
    const cell = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 20 }));
    const row = fc.record({ name: cell, path: cell });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), fc.integer({ min: 12, max: 120 }), (some, columnsOfTerminal) => {
        const lines = renderTable(columns, some, { width: columnsOfTerminal }).slice(0, -1).split('\n');
        expect(lines).toHaveLength(some.length + 1);
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columnsOfTerminal);
      }),
    );
  });

  test('titles stand alone when there are no rows', () => {
    expect(renderTable(columns, [])).toBe('NAME  PATH\n');
  });

  test('colour does not count as width', () => {
    const text = renderTable(
      [{ title: 'A', value: (row: Row) => row.name, style: () => 'error' }, ...columns.slice(1)],
      rows,
      { paint: colourPaint },
    );
    // eslint-disable-next-line no-control-regex
    expect(text.replaceAll(/\u001B\[[\d;]*m/g, '')).toBe(
      renderTable([{ ...columns[0], title: 'A', value: (row: Row) => row.name }, ...columns.slice(1)], rows),
    );
  });

  test('pairs line up', () => {
    expect(
      renderPairs([
        { name: 'a', value: '1' },
        { name: 'long', value: '' },
      ]),
    ).toBe('a     1\nlong\n');
  });
});

describe('colour', () => {
  const ask = (flag: 'auto' | 'always' | 'never', isTTY: boolean, env: Record<string, string>): boolean =>
    wantsColour({ flag, isTTY, env });

  test('is decided by the flag, then the environment, then the terminal', () => {
    expect(ask('auto', true, {})).toBe(true);
    expect(ask('auto', false, {})).toBe(false);
    expect(ask('auto', true, { NO_COLOR: '1' })).toBe(false);
    expect(ask('auto', true, { NO_COLOR: '' })).toBe(true);
    expect(ask('auto', true, { TERM: 'dumb' })).toBe(false);
    expect(ask('auto', false, { FORCE_COLOR: '1' })).toBe(true);
    expect(ask('auto', true, { FORCE_COLOR: '0' })).toBe(false);
    expect(ask('never', true, { FORCE_COLOR: '1' })).toBe(false);
    expect(ask('always', false, { NO_COLOR: '1' })).toBe(true);
  });
});
