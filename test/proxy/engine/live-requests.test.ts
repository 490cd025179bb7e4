import { describe, expect, test } from '@jest/globals';
import { LiveRequests, type LiveRequest } from '../../../proxy/engine/live-requests.ts';

function request(startedAt: number): LiveRequest {
  return { liveAt: -1, startedAt, describe: () => `since ${startedAt}` };
}

describe('the requests under way', () => {
  test('are told oldest first, whatever has left between', () => {
    const live = new LiveRequests();
    const [a, b, c, d] = [request(1), request(2), request(3), request(4)] as const;
    for (const one of [a, b, c, d]) live.add(one);
    live.delete(a);
    live.delete(c);
    expect(live.oldestFirst()).toEqual([b, d]);
    live.delete(d);
    live.delete(b);
    expect(live.oldestFirst()).toEqual([]);
  });

  test('lose none when one of them ends twice', () => {
    const live = new LiveRequests();
    const [a, b] = [request(1), request(2)] as const;
    live.add(a);
    live.add(b);
    live.delete(a);
    live.delete(a);
    expect(live.oldestFirst()).toEqual([b]);
  });
});
