import { describe, expect, test } from '@jest/globals';
import type { TraceFrame } from '../../src/admin/client/trace-frames.ts';
import { wholeRequests } from '../../src/admin/client/whole-requests.ts';
import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';

function frame(requestId: string | undefined, message: TraceEvent['message']): TraceFrame {
  const event: TraceEvent = {
    eventStart: null,
    eventEnd: 1,
    severity: 'info',
    message,
    ...(requestId !== undefined && { requestId }),
  };
  return { event, raw: JSON.stringify(event) };
}

async function* stream(...frames: TraceFrame[]): AsyncGenerator<TraceFrame> {
  yield* frames;
}

async function idsOf(frames: AsyncIterable<TraceFrame>): Promise<(string | undefined)[]> {
  const ids: (string | undefined)[] = [];
  for await (const { event } of frames) ids.push(event.requestId);
  return ids;
}

const started = { type: 'requestStarted' } as const;
const finished = { type: 'requestFinished', status: 200, error: null } as const;

describe('requests whose beginning was seen', () => {
  test('a request that was under way when the watcher came is left out', async () => {
    const frames = stream(
      frame('old', finished),
      frame('new', started),
      frame('old', finished),
      frame('new', finished),
    );
    expect(await idsOf(wholeRequests(frames))).toEqual(['new', 'new']);
  });

  test('of more than are wanted only the first to begin', async () => {
    const frames = stream(
      frame('a', started),
      frame('b', started),
      frame('c', started),
      frame('c', finished),
      frame('a', finished),
    );
    expect(await idsOf(wholeRequests(frames, 2))).toEqual(['a', 'b', 'a']);
  });

  test('events without an id pass', async () => {
    const frames = stream(frame(undefined, finished), frame(undefined, { type: 'dropped', count: 3 }));
    expect(await idsOf(wholeRequests(frames))).toEqual([undefined, undefined]);
  });
});
