import { describe, expect, test } from '@jest/globals';
import xterm from '@xterm/headless';
import { RedrawnText } from '../../../ui/text/redraw.ts';

function terminal(columns: number, rows: number) {
  const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  const size = { columns, rows };
  let raw = '';
  const write = (text: string): Promise<void> => {
    raw += text;
    return new Promise((resolve) => screen.write(text, resolve));
  };
  return {
    size,
    write,
    drawn: new RedrawnText(size, write),
    raw: () => raw,
    resize: (toColumns: number) => {
      size.columns = toColumns;
      screen.resize(toColumns, rows);
    },
    lines: () => {
      const buffer = screen.buffer.active;
      const all = Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? '');
      return all.join('\n').trimEnd().split('\n');
    },
  };
}

describe('a text that is drawn over itself', () => {
  test('stands where it stood, below what was there before', async () => {
    const { drawn, lines, write } = terminal(20, 10);
    await write('$ command\n');
    await drawn.show('a 1\nb 1\nc 1\n');
    await drawn.show('a 2\nb\n');
    expect(lines()).toEqual(['$ command', 'a 2', 'b']);
    await drawn.show('a 3\nb 3\nc 3\nd 3\n');
    expect(lines()).toEqual(['$ command', 'a 3', 'b 3', 'c 3', 'd 3']);
  });

  test('goes on in place when it reaches the lower end of the screen', async () => {
    const { drawn, lines, write } = terminal(20, 5);
    await write('1\n2\n3\n');
    await drawn.show('a\nb\nc\n');
    await drawn.show('d\ne\nf\n');
    expect(lines()).toEqual(['1', '2', '3', 'd', 'e', 'f']);
  });

  test('never takes more lines than there are, nor wraps', async () => {
    const { drawn, lines } = terminal(14, 4);
    const text = `${'x'.repeat(30)}\n2\n3\n4\n5\n`;
    await drawn.show(text);
    await drawn.show(`!${text}`);
    expect(lines()).toEqual([`!${'x'.repeat(13)}`, '2', '… 3 more lines']);
  });

  test('is not drawn again when nothing changed', async () => {
    const { drawn, raw } = terminal(20, 10);
    await drawn.show('a\n');
    const before = raw();
    await drawn.show('a\n');
    expect(raw()).toBe(before);
  });

  test('clears the screen when the terminal has another size', async () => {
    const { drawn, lines, resize } = terminal(20, 10);
    await drawn.show('a long line of text\nb\n');
    resize(10);
    await drawn.show('short\n');
    expect(lines()).toEqual(['short']);
  });

  test('leaves cursor and wrapping as they were after every frame', async () => {
    const { drawn, raw } = terminal(20, 10);
    await drawn.show('a\n');
    await drawn.show('b\n');
    const frames = raw().split('\u001B[?25l').slice(1);
    expect(frames.map((frame) => frame.endsWith('\u001B[?7h\u001B[?25h'))).toEqual([true, true]);
  });
});
