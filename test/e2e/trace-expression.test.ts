/** Watching only requests for which an expression is true. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { EventReader } from '../proxy/admin/sse.ts';
import { finished, gwctl, startGwctl } from '../commands/gwctl.ts';
import { eventually, Http2Client } from './clients.ts';
import { ask, Cleanup, startGateway, type RunningGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const config = `
config:
  adminAddr: "127.0.0.1:1"
  statsAddr: "127.0.0.1:1"
  readinessAddr: "127.0.0.1:1"
  customFunctions: 'fromTeam(t) { request.headers["x-team"] == t }'
gateways: {default: {port: 80}}
routes:
- name: all
  policies:
    directResponse: {status: 200, body: ok}
`;

async function start(threads?: number): Promise<RunningGateway> {
  return cleanup.add(await startGateway(config, threads === undefined ? {} : { threads }));
}

async function watch(running: RunningGateway, query: Record<string, string>): Promise<EventReader> {
  return cleanup.add(await EventReader.open(`${running.admin}/debug/trace?${new URLSearchParams(query).toString()}`));
}

async function send(running: RunningGateway, path: string, headers: Record<string, string> = {}): Promise<void> {
  await ask(running.port(80), path, { headers });
}

/** Paths of the requests that a reader saw. */
function paths(reader: EventReader): readonly string[] {
  return reader.events.flatMap((event) => {
    const { message } = event as {
      message: { type: string; stage?: string; requestState?: { request?: { path: string } } };
    };
    const path = message.requestState?.request?.path;
    return message.type === 'requestSnapshot' && message.stage === 'initial request' && path !== undefined
      ? [path]
      : [];
  });
}

function ends(reader: EventReader): number {
  return reader.types().filter((type) => type === 'requestFinished').length;
}

describe('/debug/trace?expression=', () => {
  test.each([undefined, 2])(
    'shows the next request for which it is true, and no other (threads: %s)',
    async (threads) => {
      const running = await start(threads);
      const reader = await watch(running, { expression: 'request.headers["x-team"] == "red"' });
      for (const team of ['blue', 'green', 'red', 'red']) await send(running, `/${team}`, { 'x-team': team });
      await send(running, '/none');
      await reader.ended;
      expect(paths(reader)).toEqual(['/red']);
    },
  );

  test('leaves requests that it does not want to other watchers', async () => {
    const running = await start(2);
    const picky = await watch(running, { expression: 'request.path == "/picked"' });
    const any = await watch(running, {});
    const later = await watch(running, { expression: 'request.path == "/picked"' });
    await send(running, '/any');
    await any.ended;
    expect(paths(any)).toEqual(['/any']);
    await send(running, '/picked');
    await picky.ended;
    expect(paths(picky)).toEqual(['/picked']);
    expect(later.events).toEqual([]);
    await send(running, '/picked');
    await later.ended;
  });

  test('with follow and count, every such request beside followers of all', async () => {
    const running = await start(2);
    const all = await watch(running, { follow: 'true' });
    const red = await watch(running, { follow: 'true', expression: 'fromTeam("red")' });
    const two = await watch(running, { count: '2', expression: 'fromTeam("red") && request.method == "GET"' });
    const counted = await watch(running, { follow: 'true', count: '2', expression: 'fromTeam("red")' });
    for (const n of [1, 2, 3, 4, 5, 6]) {
      await send(running, `/${n}`, { 'x-team': n % 2 === 0 ? 'red' : 'blue' });
      // Two data threads tell of their requests in any order.
      await eventually(`end ${n}`, () => ends(all) === n && ends(red) === Math.floor(n / 2));
    }
    await Promise.all([two.ended, counted.ended]);
    expect(paths(all)).toEqual(['/1', '/2', '/3', '/4', '/5', '/6']);
    expect(paths(red)).toEqual(['/2', '/4', '/6']);
    expect(paths(two)).toEqual(['/2', '/4']);
    expect(paths(counted)).toEqual(['/2', '/4']);
  });

  test('sees the client, and requests of HTTP/2', async () => {
    const running = await start();
    const reader = await watch(running, {
      expression: 'source.address == "127.0.0.1" && request.version == "HTTP/2" && request.host == "h2.test"',
    });
    await send(running, '/one');
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${running.port(80)}`));
    await client.ask({ ':path': '/two', ':authority': 'h2.test' });
    await reader.ended;
    expect(paths(reader)).toEqual(['/two']);
  });

  test('an evaluation that fails is false', async () => {
    const running = await start();
    const reader = await watch(running, {
      expression: 'request.headers["x-number"] != "" && 1 / int(request.headers["x-number"]) == 1',
    });
    await send(running, '/missing');
    await send(running, '/zero', { 'x-number': '0' });
    await send(running, '/text', { 'x-number': 'x' });
    await send(running, '/one', { 'x-number': '1' });
    await reader.ended;
    expect(paths(reader)).toEqual(['/one']);
  });

  test('watchers that leave are forgotten, and the next one is not hurt', async () => {
    const running = await start(2);
    for (let n = 0; n < 70; n++) {
      const reader = await EventReader.open(`${running.admin}/debug/trace?expression=${n}+%3D%3D+-1`);
      reader.close();
      await reader.ended;
    }
    const reader = await watch(running, { expression: 'true' });
    await send(running, '/one');
    await reader.ended;
    expect(paths(reader)).toEqual(['/one']);
  });

  test.each([
    ['request.path ==', 'expected an expression, found the end (line 1, column 16)'],
    ['request.path == "a', 'the string is not closed (line 1, column 17)'],
    ['true &&\n reqest.path == "/"', "undeclared reference to 'reqest' (line 2, column 2)"],
    ['request.path.beginsWith("/")', 'there is no function beginsWith (line 1, column 14)'],
    ['request.body == b""', 'request.body is not kept for the expressions of traces'],
    ['llm.prompt == ""', 'llm.prompt is not kept for the expressions of traces'],
    ['reqest.path == "/"', "undeclared reference to 'reqest' (line 1, column 1): did you mean request?"],
    ['mcp.methodNam == "x"', 'mcp has no methodNam: did you mean mcp.methodName?'],
    ['llmRequest.model == "x"', 'llmRequest is never known of a request that is traced'],
    ['('.repeat(100), 'nested more than 48 deep (line 1, column 49)'],
    ['1'.repeat(20_000).slice(0, 7000), 'the number is too large for an int'],
  ])('%.40s is refused with 400 and the place', async (expression, reason) => {
    const running = await start();
    const answer = await fetch(`${running.admin}/debug/trace?${new URLSearchParams({ expression }).toString()}`);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining(`invalid expression: ${reason}`),
    ]);
  });
});

describe('/debug/trace?expression= over what is known in the end', () => {
  test.each([undefined, 2])('shows the next such request as a whole once it is over (threads: %s)', async (threads) => {
    const running = await start(threads);
    const late = 'response.code == 200u && request.path == "/2"';
    const reader = await watch(running, { expression: late });
    const all = await watch(running, { follow: 'true' });
    const early = await watch(running, { expression: 'request.path == "/2"' });
    for (const n of [1, 2, 2, 3]) await send(running, `/${n}`);
    await Promise.all([reader.ended, early.ended]);
    await eventually('the followed ends', () => ends(all) === 4);
    expect(paths(reader)).toEqual(['/2']);
    expect(reader.types()).toEqual(early.types());
    expect(paths(all).toSorted()).toEqual(['/1', '/2', '/2', '/3']);
  });

  test('with follow, every such request, whoever else waits for it', async () => {
    const running = await start(2);
    const some = await watch(running, {
      follow: 'true',
      count: '2',
      expression: 'response.code < 300u && fromTeam("red")',
    });
    const none = await watch(running, { follow: 'true', expression: 'response.code >= 500u' });
    for (const team of ['red', 'blue', 'red']) await send(running, `/${team}`, { 'x-team': team });
    await some.ended;
    expect(paths(some)).toEqual(['/red', '/red']);
    expect(none.events).toEqual([]);
  });
});

describe('gwctl trace --expression', () => {
  test('waits for the request that it describes', async () => {
    const running = await start(2);
    const address = running.admin.replace('http://', '');
    const child = startGwctl(['trace', '--address', address, '--expression', 'request.path == "/picked"']);
    const done = finished(child);
    let notes = '';
    child.stderr.on('data', (text: string) => (notes += text));
    await eventually('the watch', () => notes.includes('waiting for a request'));
    await send(running, '/other');
    await send(running, '/picked');
    const { code, stdout } = await done;
    expect([code, stdout.includes('GET shop.test/picked'), stdout.includes('/other')]).toEqual([0, true, false]);
  });

  test('what the gateway refuses is wrong usage, at once', async () => {
    const running = await start();
    const address = running.admin.replace('http://', '');
    const { code, stderr } = await gwctl([
      'trace',
      '--address',
      address,
      '--expression',
      'jwt.sub == "a" && respnse.code == 200',
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean response?');
  });
});
