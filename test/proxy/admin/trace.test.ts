import { afterEach, describe, expect, test } from '@jest/globals';

import { gatewayConfig, World } from '../supervisor/world.ts';
import { EventReader } from './sse.ts';

let world: World | null = null;
const readers: EventReader[] = [];

async function start(...args: Parameters<typeof World.start>): Promise<World> {
  world = await World.start(...args);
  return world;
}

async function watch(running: World, query = '', method = 'GET'): Promise<EventReader> {
  const reader = await EventReader.open(`http://${running.gateway.addresses.admin}/debug/trace${query}`, method);
  readers.push(reader);
  return reader;
}

async function send(running: World, path: string): Promise<void> {
  await (await running.traffic(path)).text();
}

const details = (reader: EventReader): unknown[] =>
  reader.events.flatMap((event) => {
    const { message } = event as { message: { type: string; details?: string } };
    return message.type === 'policyEvent' ? [message.details?.split(' ')[0]] : [];
  });

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await world?.stop();
  world = null;
});

describe('/debug/trace', () => {
  test.each(['GET', 'POST'])('%s delivers the next request with its late events and ends', async (method) => {
    const running = await start(gatewayConfig({}));
    const reader = await watch(running, '', method);
    await send(running, '/one');
    await reader.ended;
    expect(reader.types()).toEqual(['requestStarted', 'policyEvent', 'requestFinished', 'bodySnapshot']);
    expect(reader.response.headers['content-type']).toBe('text/event-stream');
    expect(reader.events[0]).toMatchObject({
      requestId: '0-1',
      startTime: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
    });
  });

  test('two watchers get one request each, in the order in which they came', async () => {
    const running = await start(gatewayConfig({ workerThreads: 2 }));
    const first = await watch(running);
    const second = await watch(running);
    await send(running, '/one');
    await first.ended;
    expect(second.events).toEqual([]);
    await send(running, '/two');
    await second.ended;
    expect([details(first), details(second)]).toEqual([['/one'], ['/two']]);
  });

  test('a watcher that left does not take a request', async () => {
    const running = await start(gatewayConfig({}));
    const gone = await watch(running);
    gone.close();
    await gone.ended;
    await running.ping();
    const stays = await watch(running);
    await send(running, '/one');
    await stays.ended;
    expect(details(stays)).toEqual(['/one']);
  });

  test('follow delivers every request of every thread beside other watchers', async () => {
    const running = await start(gatewayConfig({ workerThreads: 2 }));
    const follower = await watch(running, '?follow=true');
    const once = await watch(running);
    for (let n = 0; n < 6; n++) await send(running, `/n${n}`);
    await once.ended;
    await running.until(() => follower.types().filter((type) => type === 'bodySnapshot').length === 6);
    expect(details(follower).sort()).toEqual(['/n0', '/n1', '/n2', '/n3', '/n4', '/n5']);
    expect(follower.events.every((event) => typeof (event as { requestId?: string }).requestId === 'string')).toBe(
      true,
    );
    expect(details(once)).toEqual(['/n0']);
  });

  test('count ends the stream after that many requests', async () => {
    const running = await start(gatewayConfig({}));
    const followed = await watch(running, '?follow=true&count=2');
    const counted = await watch(running, '?count=2');
    await send(running, '/one');
    await running.until(() => counted.types().includes('bodySnapshot'));
    await send(running, '/two');
    await Promise.all([followed.ended, counted.ended]);
    expect(details(followed)).toEqual(['/one', '/two']);
    expect(details(counted)).toEqual(['/one', '/two']);
  });

  test('an idle stream is kept alive', async () => {
    const running = await start(gatewayConfig({}));
    const reader = await watch(running);
    await running.until(() => reader.comments.includes('keepalive'));
    expect(reader.events).toEqual([]);
  });

  test('a reader that is too slow finds one marker that counts what is missing, and the end', async () => {
    const running = await start(gatewayConfig({}));
    const reader = await watch(running);
    reader.response.pause();
    await send(running, '/many');
    for (let n = 0; n < 30; n++) await running.ping();
    reader.response.resume();
    await reader.ended;
    const dropped = reader.events.flatMap((event) => {
      const { message } = event as { message: { type: string; count?: number } };
      return message.type === 'dropped' ? [message.count ?? 0] : [];
    });
    expect(dropped).toHaveLength(1);
    expect(reader.types().filter((type) => type !== 'dropped').length + (dropped[0] ?? 0)).toBe(8003);
  });

  test('the stream of a thread that crashed ends', async () => {
    const running = await start(gatewayConfig({}));
    const reader = await watch(running);
    await expect(running.traffic('/crash')).rejects.toThrow('fetch failed');
    await running.until(
      async () =>
        (await running.traffic('/one').then(
          (answer) => answer.status,
          () => 0,
        )) === 200,
    );
    await reader.ended;
    expect(details(reader)).toEqual(['/one']);
  });

  test.each([
    [
      '?expression=request.path+%3D%3D',
      'invalid expression: expected an expression, found the end (line 1, column 16)',
    ],
    ['?count=0', 'count is a number'],
    ['?count=many', 'count is a number'],
    ['?follow=perhaps', 'follow is true or false'],
  ])('refuses %s', async (query, reason) => {
    const running = await start(gatewayConfig({}));
    const answer = await running.admin(`/debug/trace${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(reason);
  });

  test('refuses watchers beyond a limit instead of holding any number', async () => {
    const running = await start(gatewayConfig({}));
    for (let n = 0; n < 64; n++) await watch(running);
    const answer = await running.admin('/debug/trace');
    expect([answer.status, await answer.text()]).toEqual([503, 'too many trace watchers are waiting\n']);
  });
});
