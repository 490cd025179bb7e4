import { describe, expect, test } from '@jest/globals';
import type { RejectedRoute, TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { width } from '../../../ui/terminal/text.ts';
import { lostRoutes } from '../../../ui/trace/lost-routes.ts';
import { fittingSummary } from '../../../ui/trace/short-summary.ts';
import { slowestStep } from '../../../ui/trace/timing.ts';
import { slowestName } from '../../../ui/trace/waterfall.ts';
import { recording } from '../recordings.ts';
import { press, viewerOf } from './viewer.ts';

function routeEvent(rejectedRoutes: readonly RejectedRoute[]): TraceEvent {
  const message = { type: 'routeSelection', selectedRoute: null, evaluatedRoutes: [], rejectedRoutes } as const;
  return { eventStart: null, eventEnd: 1, severity: 'error', message };
}

const lost = (route: string): RejectedRoute => ({ route, failed: 'path', expected: 'prefix /a', actual: '/b' });

describe('the slowest step', () => {
  test.each([
    ['plain-200', 'Backend Result'],
    ['retry', 'the wait before Backend Start'],
    ['policies-403', 'Policy ext_auth'],
  ])('of %s is named so that it can be found', (name, expected) => {
    const events = recording(name);
    const step = slowestStep(events);
    const event = events[step?.index ?? -1];
    expect(step && event && slowestName(step, event)).toBe(expected);
  });
});

describe('routes that lost', () => {
  test('are named by the end of their keys', () => {
    expect(lostRoutes(routeEvent([lost('gateway/default/default/a'), lost('gateway/default/default/b')]))).toEqual([
      { route: 'default/a', reason: 'path: expected prefix /a, got /b' },
      { route: 'default/b', reason: 'path: expected prefix /a, got /b' },
    ]);
  });

  test('keep their whole keys where the ends are the same', () => {
    const keys = ['gateway/one/default/a', 'gateway/two/default/a'];
    expect(lostRoutes(routeEvent(keys.map(lost))).map(({ route }) => route)).toEqual(keys);
  });

  test('stand above the event in the details, and not in its JSON', () => {
    const event = routeEvent([lost('gateway/default/default/a')]);
    const state = viewerOf([event]);
    expect(state.detail.lines.slice(0, 2)).toEqual(['# Why not:', '#   default/a  path: expected prefix /a, got /b']);
  });
});

describe('a summary in few columns', () => {
  const entries = viewerOf([...recording('plain-200'), ...recording('no-route-404')]).entries.items;

  test('is said in fewer words before it is cut', () => {
    const route = entries.find((entry) => entry.label === 'Route' && entry.summary.startsWith('selected'));
    if (route === undefined) throw new Error('no route in the recording');
    expect([60, 40, 26, 18, 10].map((columns) => fittingSummary(route, columns))).toEqual([
      'selected "shop/cart.00.http" (3 evaluated)',
      'selected shop/cart.00.http (3 evaluated)',
      'selected shop/cart.00.http',
      'shop/cart.00.http',
      'shop/…http',
    ]);
  });

  test.each([1, 5, 12, 20, 33, 80])('never takes more than %i', (columns) => {
    for (const entry of entries) expect(width(fittingSummary(entry, columns))).toBeLessThanOrEqual(columns);
  });
});

describe('the first event', () => {
  test('shows the request as a whole', () => {
    const { detail } = press(viewerOf(recording('no-route-404')), 'g');
    expect(detail.lines.slice(0, 5)).toEqual([
      '# The request',
      'request: GET shop.test/nowhere/at/all',
      'status: 404',
      'error: route not found',
      'route: none matched',
    ]);
  });
});
