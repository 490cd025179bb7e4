import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/shared/json.ts';
import type { TargetFailure } from '../../../../proxy/mcp/targets/contract.ts';
import { answered, ask, call, Client, ScriptedTarget, type Seen, session, type Script } from './scripted.ts';

const unsupported: TargetFailure = { kind: 'unsupported', message: 'no stream' };
const gone: TargetFailure = { kind: 'broken', message: 'gone' };

describe('the stream of a session', () => {
  const targets = (...scripts: Script[]): ScriptedTarget[] =>
    scripts.map((script, at) => {
      const target = new ScriptedTarget('abc'[at] ?? '');
      target.onStream = script;
      return target;
    });
  const none: Script = (seen) => seen.fail(unsupported);
  const broken: Script = (seen) => seen.fail(gone);
  const ended: Script = (seen) => seen.sink.onEnd(null);
  const open: Script = () => {};

  test('has what all targets say, under the client’s names, and drops answers', () => {
    const [a, b] = targets(open, open);
    const client = new Client();
    session([a, b].filter((target) => target !== undefined)).listen(call(), client);
    a?.streams[0]?.notify('notifications/tools/list_changed');
    b?.streams[0]?.notify('notifications/resources/updated', { uri: 'file:///r', title: 't' });
    b?.streams[0]?.notify('notifications/tasks/status', { taskId: '1' });
    b?.streams[0]?.sink.onMessage({ kind: 'request', id: 1, method: 'roots/list', params: undefined });
    b?.streams[0]?.sink.onMessage({ kind: 'result', id: 1, result: {} });
    expect(client.messages).toEqual([
      { kind: 'notification', method: 'notifications/tools/list_changed', params: undefined },
      { kind: 'notification', method: 'notifications/resources/updated', params: { uri: 'b+file:///r', title: 't' } },
      { kind: 'notification', method: 'notifications/tasks/status', params: { taskId: 'b+1' } },
      { kind: 'request', id: 'gw_b_n_1', method: 'roots/list', params: undefined },
    ]);
  });

  test.each<[string, Script[], 'failClosed' | 'failOpen', TargetFailure | null | undefined]>([
    ['one has no stream', [none, open], 'failClosed', undefined],
    ['nobody has a stream', [none, none], 'failClosed', unsupported],
    ['nobody has a stream', [none, none], 'failOpen', unsupported],
    ['the only one has no stream', [none], 'failClosed', unsupported],
    ['one breaks', [open, broken], 'failClosed', gone],
    ['one breaks', [open, broken], 'failOpen', undefined],
    ['all break', [broken, broken], 'failOpen', undefined],
    ['one breaks and one has none', [broken, none], 'failOpen', undefined],
    ['one ends', [ended, open], 'failClosed', undefined],
    ['all end', [ended, none, ended], 'failClosed', null],
  ])('when %s: %#', (_, scripts, failureMode, failure) => {
    const all = targets(...scripts);
    const client = new Client();
    session(all, { failureMode }).listen(call(), client);
    expect(client.failure).toEqual(failure);
    for (const { streams } of all) for (const seen of streams) seen.notify('notifications/late');
    expect(client.messages.length > 0).toBe(failure === undefined);
  });

  test('breaks off the others when one breaks later', () => {
    const [a, b] = targets(open, open);
    const client = new Client();
    session([a, b].filter((target) => target !== undefined)).listen(call(), client);
    b?.streams[0]?.fail(gone);
    expect(a?.streams[0]?.cancelled).toBe(true);
    expect(client.failure).toEqual(gone);
  });

  test('makes room for another one where there are too many of them', () => {
    const [a] = targets(open);
    const on = session([a].filter((target) => target !== undefined));
    const clients = Array.from({ length: 33 }, () => new Client());
    for (const client of clients) on.listen(call(), client);
    expect(clients.map(({ failure }) => failure).filter((failure) => failure === null)).toHaveLength(1);
    expect(clients[0]?.failure).toBeNull();
    expect(a?.streams.filter(({ cancelled }) => cancelled)).toEqual([a?.streams[0]]);
  });

  test('is paused, resumed and cancelled at all targets', () => {
    const all = targets(open, open);
    const calling = session(all).listen(call(), new Client());
    const state = (key: 'paused' | 'cancelled') => all.map(({ streams }) => streams[0]?.[key]);
    calling.pause();
    expect(state('paused')).toEqual([true, true]);
    calling.resume();
    expect(state('paused')).toEqual([false, false]);
    calling.cancel();
    expect(state('cancelled')).toEqual([true, true]);
  });
});

describe('subscriptions/listen', () => {
  const modern = { era: 'modern' } as const;
  const accept =
    (notifications?: JsonObject): Script =>
    (seen) => {
      const asked = seen.message.params?.['notifications'] ?? {};
      seen.notify('notifications/subscriptions/acknowledged', {
        notifications: notifications ?? asked,
        _meta: { x: 1 },
      });
    };
  const id = { _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } };

  test('is acknowledged once, with what the targets together have agreed to', () => {
    const a = new ScriptedTarget('a', accept());
    const b = new ScriptedTarget('b');
    const filter = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['b+m:2', 'a+m:1', 'b+m:3'],
    };
    const { client } = ask(session([a, b]), 'subscriptions/listen', { notifications: filter }, modern);
    a.seen[0]?.notify('notifications/tools/list_changed');
    expect(a.seen[0]?.paused).toBe(true);
    expect(client.messages).toEqual([]);
    b.seen[0]?.notify('notifications/subscriptions/acknowledged', {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['m:3', 'm:9'] },
    });
    expect(a.seen[0]?.paused).toBe(false);
    expect(b.seen[0]?.message.params?.['notifications']).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['m:2', 'm:3'],
    });
    b.seen[0]?.notify('notifications/resources/updated', { uri: 'm:3' });
    b.seen[0]?.notify('notifications/resources/updated', { uri: 'm:9' });
    b.seen[0]?.notify('notifications/prompts/list_changed');
    b.seen[0]?.notify('notifications/message', { data: 1 });
    expect(client.messages.map((m) => (m.kind === 'notification' ? [m.method, m.params] : m))).toEqual([
      [
        'notifications/subscriptions/acknowledged',
        {
          notifications: {
            toolsListChanged: true,
            promptsListChanged: true,
            resourceSubscriptions: ['a+m:1', 'b+m:3'].toSorted(
              (x, y) => filter.resourceSubscriptions.indexOf(x) - filter.resourceSubscriptions.indexOf(y),
            ),
          },
          ...id,
        },
      ],
      ['notifications/tools/list_changed', id],
      ['notifications/resources/updated', { uri: 'b+m:3', ...id }],
    ]);
  });

  test('keeps what comes too early once, and not without end', () => {
    const a = new ScriptedTarget('a', accept());
    const b = new ScriptedTarget('b');
    const filter = { toolsListChanged: true, resourceSubscriptions: ['a+m:/', 'b+m:/'] };
    const begin = () => {
      const { client } = ask(session([a, b]), 'subscriptions/listen', { notifications: filter }, modern);
      return { client, told: a.seen.at(-1) };
    };
    const { client, told } = begin();
    for (let i = 0; i < 5000; i++) told?.notify('notifications/tools/list_changed');
    told?.notify('notifications/resources/updated', { uri: 'm:/x' });
    accept()(b.seen[0] as (typeof b.seen)[number]); // asked above
    expect(client.messages.map((message) => ('method' in message ? message.method : message.kind))).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
      'notifications/resources/updated',
    ]);
    const flooded = begin();
    for (let i = 0; i < 5000; i++) flooded.told?.notify('notifications/resources/updated', { uri: `m:/${i}` });
    expect(flooded.client.failure).toMatchObject({ kind: 'broken' });
    expect(flooded.told?.cancelled).toBe(true);
  });

  test('to resources alone concerns their targets alone', () => {
    const a = new ScriptedTarget('a', accept());
    const b = new ScriptedTarget('b', accept());
    const filter = { notifications: { resourceSubscriptions: ['b+m:1'], toolsListChanged: false } };
    const { client } = ask(session([a, b]), 'subscriptions/listen', filter, modern);
    expect([a.seen.length, b.seen.length, client.messages.length]).toEqual([0, 1, 1]);
  });

  test.each<[string, Script, 'failClosed' | 'failOpen', unknown]>([
    ['fails', (seen) => seen.fail(gone), 'failClosed', gone],
    ['refuses', (seen) => seen.error(-32603, 'no'), 'failClosed', { code: -32603, message: 'no' }],
    ['says something else first', (seen) => seen.notify('notifications/x'), 'failClosed', { kind: 'broken' }],
    ['ends at once', (seen) => seen.answer({}), 'failClosed', { kind: 'broken' }],
    [
      'acknowledges nothing',
      (seen) => seen.notify('notifications/subscriptions/acknowledged'),
      'failClosed',
      { kind: 'broken' },
    ],
    ['fails where others may go on', (seen) => seen.fail(gone), 'failOpen', undefined],
  ])('of a target that %s', (_, script, failureMode, told) => {
    const a = new ScriptedTarget('a', accept());
    const on = session([a, new ScriptedTarget('b', script)], { failureMode });
    const { client } = ask(on, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, modern);
    const goesOn = told === undefined;
    expect(client.failure === undefined).toBe(goesOn);
    expect(a.seen[0]?.cancelled).toBe(!goesOn);
    expect(client.result ?? client.last).toMatchObject(
      Object(told ?? { method: 'notifications/subscriptions/acknowledged' }),
    );
  });

  test('of targets that all fail is the failure of the first', async () => {
    const on = session(
      [new ScriptedTarget('a', (seen) => seen.error(-1, 'first')), new ScriptedTarget('b', (seen) => seen.fail(gone))],
      { failureMode: 'failOpen' },
    );
    const params = { notifications: { toolsListChanged: true } };
    expect(await answered(on, 'subscriptions/listen', params, modern)).toEqual({ code: -1, message: 'first' });
  });

  test('ends in good order when all targets end theirs', async () => {
    const targets = ['a', 'b'].map((name) => new ScriptedTarget(name, accept()));
    const params = { notifications: { toolsListChanged: true } };
    const { client } = ask(session(targets), 'subscriptions/listen', params, modern);
    targets[0]?.seen[0]?.answer({});
    expect(client.failure).toBeUndefined();
    targets[1]?.seen[0]?.answer({});
    expect(client.result).toEqual({ resultType: 'complete', ...id });
  });

  test('without a filter is refused', async () => {
    const on = session([new ScriptedTarget('a'), new ScriptedTarget('b')]);
    expect(await answered(on, 'subscriptions/listen', {}, modern)).toMatchObject({ code: -32602 });
  });

  test.each([
    ['an error', (seen: Seen) => seen.error(-32601, 'Method not found')],
    [
      'a status',
      (seen: Seen) =>
        seen.fail({
          kind: 'http',
          status: 404,
          response: null,
          message: 'no',
          error: { code: -32601, message: 'Method not found' },
        }),
    ],
  ])('goes on with the others where a target knows no subscriptions, told by %s', async (_what, refuse) => {
    const notifications = { toolsListChanged: true };
    const without = new ScriptedTarget('a', refuse);
    const others = new ScriptedTarget('b', (seen) => {
      seen.notify('notifications/subscriptions/acknowledged', { notifications });
      seen.notify('notifications/tools/list_changed');
    });
    const { client, calling } = ask(session([without, others]), 'subscriptions/listen', { notifications }, modern);
    expect(client.messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications } },
      { method: 'notifications/tools/list_changed' },
    ]);
    calling.cancel();
    const alone = session([without, new ScriptedTarget('c', refuse)]);
    const { client: nobody } = ask(alone, 'subscriptions/listen', { notifications }, modern);
    expect(nobody.messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { kind: 'result' },
    ]);
    // Of a single server the client hears it as it is.
    const single = await answered(session([without]), 'subscriptions/listen', { notifications }, modern);
    expect(JSON.stringify(single)).toContain('-32601');
  });
});
