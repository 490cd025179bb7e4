import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startUpstreams, type DemoUpstreams } from '../../../src/demo/upstreams.ts';
import { gwctl } from '../../commands/gwctl.ts';
import { TestTerminal } from './terminal.ts';

jest.setTimeout(60_000);

let shop: DemoUpstreams;
const open: TestTerminal[] = [];
beforeEach(async () => {
  shop = await startUpstreams();
});
afterEach(async () => {
  for (const terminal of open.splice(0)) terminal.kill();
  await shop.close();
});

/** gwctl in a terminal, with the shop of the demo. */
function mcp(...words: readonly string[]): TestTerminal {
  const url = `http://127.0.0.1:${shop.ports.shop}/mcp`;
  const size = { columns: 80, rows: 24 };
  const terminal = TestTerminal.entry('../../commands/from-source.ts', ['mcp', ...words, '--url', url], size);
  open.push(terminal);
  return terminal;
}

const BACKSPACE = '\u007f';
const DOWN = '\u001b[B';

describe('a call in a terminal', () => {
  test('asks for arguments by a form, then for what the server wants to know, and leaves the terminal as it was', async () => {
    const terminal = mcp('call', 'order');
    await terminal.shows('▸ item*');
    expect(terminal.isAlternate).toBe(true);
    terminal.type(`\r`);
    await terminal.shows('✗ is needed');
    terminal.type(`c\t${BACKSPACE}x`);
    await terminal.shows('✗ is a number');
    terminal.type(`${BACKSPACE}12${DOWN}${DOWN}{"to": "Ada"}\r`);
    await terminal.shows('Order 12 of cup for €58.80?');
    terminal.type(' \tcareful\r');
    expect(await terminal.exited).toBe(0);
    await terminal.shows('ordered 12 of cup, €58.80, for Ada, careful');
    expect(terminal.isAlternate).toBe(false);
  });

  test.each([
    ['declined', '\u0018'],
    ['left', '\u001b'],
  ])('goes on when its question is %s', async (_, key) => {
    const terminal = mcp('call', 'order', 'item=cup', 'count=12');
    await terminal.shows('The server asks');
    terminal.type(key);
    expect(await terminal.exited).toBe(0);
    await terminal.shows('nothing was ordered');
  });

  test('ends with 130 when the form is left, and is not made', async () => {
    const terminal = mcp('call', 'order');
    await terminal.shows('▸ item*');
    terminal.type('\u001b');
    expect(await terminal.exited).toBe(130);
    expect(terminal.isAlternate).toBe(false);
  });

  test('ends with 130 when its question is interrupted', async () => {
    const terminal = mcp('call', 'order', 'item=cup', 'count=12');
    await terminal.shows('The server asks');
    terminal.type('\u0003');
    expect(await terminal.exited).toBe(130);
  });

  test('a prompt asks for its arguments by the same form', async () => {
    const terminal = mcp('prompt', 'recommend');
    await terminal.shows('▸ occasion*');
    terminal.type('a birthday\r');
    expect(await terminal.exited).toBe(0);
    await terminal.shows('What in the shop suits a birthday?');
  });
});

describe('a call without a terminal', () => {
  test('asks nobody: the server is told so, and what is missing is missing', async () => {
    const url = `http://127.0.0.1:${shop.ports.shop}/mcp`;
    const many = await gwctl(['mcp', 'call', 'order', 'item=cup', 'count=12', '--url', url, '-o', 'json']);
    expect([many.code, many.stdout]).toEqual([1, '']);
    expect(many.stderr).toContain('do not declare the required capability');
    const missing = await gwctl(['mcp', 'call', 'order', '--url', url, '-o', 'json']);
    expect([missing.code, JSON.parse(missing.stdout).isError]).toEqual([1, true]);
  });
});
