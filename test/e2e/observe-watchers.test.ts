import { afterEach, describe, expect, test } from '@jest/globals';

import { EventReader } from '../proxy/admin/sse.ts';
import { eventually } from './clients.ts';
import { ask, Cleanup, type RunningGateway } from './gateway.ts';
import { BEGIN, eventsOf, observing, only, outline } from './observed.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { start, startRoutes, watch } = observing(cleanup);

describe('watchers', () => {
  const routes = '- policies: {directResponse: {status: 200, body: ok}}';

  function many(running: RunningGateway, count: number): Promise<unknown> {
    return Promise.all(Array.from({ length: count }, (_, n) => ask(running.port(80), `/${n}`)));
  }

  const idsOf = (reader: EventReader): Set<string | undefined> =>
    new Set(eventsOf(reader).map(({ requestId }) => requestId));

  test('that follow get every request of both threads, whole and in order, and both the same', async () => {
    const running = await startRoutes(routes);
    const readers = [await watch(running, '?follow=true'), await watch(running, '?follow=true')];
    await many(running, 60);
    const complete = (reader: EventReader): boolean => only(eventsOf(reader), 'requestFinished').length === 60;
    await eventually('every request is told to both', () => readers.every(complete));
    for (const reader of readers) {
      expect(idsOf(reader).size).toBe(60);
      const threads = new Set([...idsOf(reader)].map((id) => id?.split('-')[1]));
      expect(threads).toEqual(new Set(['0', '1']));
      for (const id of idsOf(reader)) {
        const own = eventsOf(reader).filter(({ requestId }) => requestId === id);
        expect(own[0]?.startTime).toBeDefined();
        expect(outline(own)).toEqual([
          ...BEGIN,
          'routeSelection',
          'policySelection route',
          'policy direct_response',
          'responseSnapshot final response',
          'bodySnapshot response',
          'requestFinished 200',
        ]);
      }
    }
    expect(readers[0]?.events).toEqual(readers[1]?.events);
  });

  test('of one request get exactly one among many over two threads, each another', async () => {
    const running = await startRoutes(routes);
    const readers = await Promise.all(Array.from({ length: 5 }, () => watch(running)));
    await many(running, 60);
    await Promise.all(readers.map((reader) => reader.ended));
    const ids = readers.map(idsOf);
    expect(ids.map((each) => each.size)).toEqual([1, 1, 1, 1, 1]);
    expect(new Set(ids.flatMap((each) => [...each])).size).toBe(5);
    for (const reader of readers) {
      expect([reader.types()[0], reader.types().at(-1)]).toEqual(['requestStarted', 'requestFinished']);
    }
  });

  test('who leave before a request comes take none away from those who wait', async () => {
    const running = await startRoutes(routes);
    const gone = await watch(running);
    const waiting = await watch(running);
    gone.close();
    await gone.ended;
    await eventually('a request reaches who waits', async () => {
      await ask(running.port(80), '/');
      return waiting.types().includes('requestFinished');
    });
    expect(idsOf(waiting).size).toBe(1);
  });

  test('decide what is recorded: without them no request has so much as an id', async () => {
    const running = await start(
      `config: {logging: {level: "info,request=debug"}}\ngateways: {default: {port: 80}}\nroutes:\n${routes}`,
    );
    const withId = async (path: string): Promise<boolean> => {
      await ask(running.port(80), path);
      return (await running.logged(`http.path=${path} `)).includes('request.id=');
    };
    expect(await withId('/before')).toBe(false);
    const reader = await watch(running);
    expect(await withId('/watched')).toBe(true);
    await reader.ended;
    expect(await withId('/after')).toBe(false);
    const follower = await watch(running, '?follow=true');
    expect(await withId('/followed')).toBe(true);
    follower.close();
    await follower.ended;
    let tries = 0;
    await eventually('nothing is recorded any more', async () => !(await withId(`/again-${(tries += 1)}`)));
    expect(await withId('/last')).toBe(false);
  });
});
