import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { gwctl } from './gwctl.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.close());

function mcp(command: string, ...words: string[]) {
  return gwctl(['mcp', command, '--url', server.url, ...words]);
}

describe('mcp tools', () => {
  test('lists tools with what they need', async () => {
    const { code, stdout } = await mcp('tools');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME +ARGUMENTS +DESCRIPTION\n/);
    expect(stdout).toMatch(/^echo +message +Echoes back the input string$/m);
    expect(stdout).toMatch(/^get-annotated-message +messageType \[includeImage\] /m);
  });

  test('-o json has their schemas, -o name their names alone', async () => {
    const tools = JSON.parse((await mcp('tools', '-o', 'json')).stdout) as { name: string; inputSchema: object }[];
    expect(tools.find(({ name }) => name === 'get-sum')?.inputSchema).toMatchObject({ required: ['a', 'b'] });
    expect((await mcp('tools', '-o', 'name')).stdout).toBe(tools.map(({ name }) => `${name}\n`).join(''));
  });

  test('over the older transport, too', async () => {
    const older = await startEverything('sse');
    try {
      const { code, stdout } = await gwctl(['mcp', 'tools', '--url', older.url, '--transport', 'sse', '-o', 'name']);
      expect([code, stdout.includes('get-sum\n')]).toEqual([0, true]);
    } finally {
      await older.close();
    }
  });
});

describe('mcp call', () => {
  test('reads arguments as the tool says, and prints what it answers', async () => {
    const { code, stdout } = await mcp('call', 'get-sum', 'a=1', 'b=2.5');
    expect([code, stdout]).toEqual([0, 'The sum of 1 and 2.5 is 3.5.\n']);
  });

  test('takes arguments as JSON, from stdin, and word by word as JSON', async () => {
    const input = JSON.stringify({ a: 1, b: 1 });
    const { stdout } = await gwctl(['mcp', 'call', 'get-sum', '--url', server.url, '--args', '-'], { input });
    expect(stdout).toBe('The sum of 1 and 1 is 2.\n');
    expect((await mcp('call', 'echo', 'message:="[1]"')).stdout).toBe('Echo: [1]\n');
  });

  test('-o json has the whole result', async () => {
    const { stdout } = await mcp('call', 'get-structured-content', 'location=New York', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { temperature: expect.any(Number) } });
  });

  test('tells progress apart from the answer', async () => {
    const { stdout, stderr } = await mcp('call', 'trigger-long-running-operation', 'duration=0.2', 'steps=2');
    expect(stdout).toMatch(/^Long running operation completed/);
    expect(stderr).toBe('1/2\n2/2\n');
  });

  test('shows what is no text by what it is', async () => {
    expect((await mcp('call', 'get-tiny-image')).stdout).toMatch(/\[image\/png, \d+ bytes\]/);
  });

  test('says which argument is wrong, and does not call', async () => {
    const { code, stderr } = await mcp('call', 'get-sum', 'a=x', 'b=1');
    expect([code, stderr]).toEqual([2, 'Error: the argument a is a number, not "x"\nCode: GW_MCP_ARGUMENT\n']);
  });

  test('ends with 1 when the tool says that it failed', async () => {
    const { code, stdout } = await mcp('call', 'echo');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/Invalid arguments for tool echo/)]);
  });

  test('knows no tool of another name', async () => {
    const { code, stderr } = await mcp('call', 'ECHO');
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^Error: there is no tool "ECHO" here\nTry this: gwctl mcp call echo\n/),
    ]);
  });
});

describe('mcp read and prompt', () => {
  test('list what there is, and get one', async () => {
    const [uri = ''] = (await mcp('read')).stdout.split('\n');
    const { stdout } = await mcp('read', uri, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ contents: [{ uri, text: expect.any(String) }] });
    expect((await mcp('prompt')).stdout).toMatch(/^simple-prompt$/m);
    expect((await mcp('prompt', 'args-prompt', 'city=Bern', 'state=BE')).stdout).toMatch(/^user:\n.*Bern/);
  });

  test('tell the server from a place where none is', async () => {
    const { code, stderr } = await gwctl(['mcp', 'read', '--url', 'http://127.0.0.1:1/mcp']);
    expect([code, stderr.includes('Error: ')]).toEqual([4, true]);
  });
});
