import type { RejectedRoute, TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { shortRoute } from './request.ts';

export interface LostRoute {
  readonly route: string;
  readonly reason: string;
}

/** The routes that were looked at and not taken, and why; none for any other event. */
export function lostRoutes({ message }: TraceEvent): readonly LostRoute[] {
  if (message.type !== 'routeSelection') return [];
  const lost = message.rejectedRoutes ?? [];
  const short = lost.map(({ route }) => shortRoute(route));
  /* Routes of two gateways may end alike; then only the whole key tells them apart. */
  const isClear = (name: string): boolean => short.indexOf(name) === short.lastIndexOf(name);
  return lost.map((each, at) => {
    const name = short[at] ?? each.route;
    return { route: isClear(name) ? name : each.route, reason: reasonOf(each) };
  });
}

function reasonOf({ failed, expected, actual }: RejectedRoute): string {
  if (failed === 'precedence') return 'matches too, but comes second';
  return `${failed}: expected ${expected}, ${actual === null ? 'there is none' : `got ${actual}`}`;
}
