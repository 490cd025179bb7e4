import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { groupRequests, ownFrames } from '../../src/admin/client/request-groups.ts';
import { readTraceFrames, type TraceFrame } from '../../src/admin/client/trace-frames.ts';
import { parseTraceEvent } from '../../src/admin/protocol/decode-trace-event.ts';

const event = (type: string, requestId?: string): string =>
  JSON.stringify({
    eventStart: null,
    eventEnd: 1,
    severity: 'info',
    ...(requestId === undefined ? {} : { requestId }),
    message: { type, stage: 's' },
  });

async function read(
  ...chunks: readonly (string | Uint8Array)[]
): Promise<{ types: string[]; error: string | undefined }> {
  const types: string[] = [];
  try {
    for await (const frame of readTraceFrames(chunksOf(chunks))) types.push(frame.event.message.type);
    return { types, error: undefined };
  } catch (error) {
    return { types, error: (error as { code: string }).code };
  }
}

async function* chunksOf(chunks: readonly (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* chunks;
}

describe('reading a recorded or live trace', () => {
  test('server-sent events with comments and carriage returns', async () => {
    expect(await read(`: ready\r\n\r\ndata: ${event('a')}\r\n\r\n: keepalive\n\ndata: ${event('b')}\n\n`)).toEqual({
      types: ['a', 'b'],
      error: undefined,
    });
  });

  test('JSON Lines, a byte order mark, blank lines, and both forms mixed', async () => {
    expect(await read(`\uFEFF${event('a')}\n\n  ${event('b')}\ndata: ${event('c')}\n\n`)).toEqual({
      types: ['a', 'b', 'c'],
      error: undefined,
    });
  });

  test('a last event without a line end is delivered', async () => {
    expect(await read(event('a'))).toEqual({ types: ['a'], error: undefined });
    expect(await read(`data: ${event('a')}`)).toEqual({ types: ['a'], error: undefined });
  });

  test('what is whole is delivered before a cut is reported', async () => {
    expect(await read(`${event('a')}\n${event('b').slice(0, 40)}`)).toEqual({ types: ['a'], error: 'GW_TRACE_CUT' });
    expect(await read(`data: ${event('a')}\n\ndata: ${event('b').slice(0, 40)}`)).toEqual({
      types: ['a'],
      error: 'GW_TRACE_CUT',
    });
  });

  test('a broken event in the middle is an error of its own', async () => {
    expect(await read(`${event('a')}\n{"nope":1}\n${event('b')}\n`)).toEqual({
      types: ['a'],
      error: 'GW_TRACE_DECODE',
    });
  });

  test('an event over several data lines is one line in the raw form', async () => {
    const frames: TraceFrame[] = [];
    for await (const frame of readTraceFrames(chunksOf(['data: {"message":\ndata: {"type":"a"}}\n\n'])))
      frames.push(frame);
    expect(frames.map((frame) => frame.raw)).toEqual(['{"message":{"type":"a"}}']);
  });

  test('the same events come out however the bytes are cut', async () => {
    const bytes = new TextEncoder().encode(`: ready\n\ndata: ${event('ä€🙂')}\n\n${event('b')}\n`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 6 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
        expect(await read(...pieces)).toEqual({ types: ['ä€🙂', 'b'], error: undefined });
      }),
    );
  });

  test('garbage ends in an error with a code or in no events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array(), { maxLength: 5 }), async (chunks) => {
        const { error } = await read(...chunks);
        expect([undefined, 'GW_TRACE_DECODE', 'GW_TRACE_CUT']).toContain(error);
      }),
    );
  });
});

const frame = (type: string, id?: string): TraceFrame => ({
  event: parseTraceEvent(event(type, id)),
  raw: event(type, id),
});

async function groups(frames: readonly TraceFrame[]): Promise<string[]> {
  const found: string[] = [];
  for await (const group of groupRequests(iterate(frames)))
    found.push(group.map((each) => each.event.message.type).join(' '));
  return found;
}

async function* iterate(frames: readonly TraceFrame[]): AsyncGenerator<TraceFrame> {
  yield* frames;
}

describe('cutting a stream into requests', () => {
  test('requests that overlap are told apart by id', async () => {
    const frames = [
      frame('requestStarted', '1'),
      frame('requestStarted', '2'),
      frame('requestFinished', '2'),
      frame('requestFinished', '1'),
    ];
    expect(await groups(frames)).toEqual(['requestStarted requestFinished', 'requestStarted requestFinished']);
  });

  test('without ids a start begins the next request', async () => {
    const frames = [
      frame('requestStarted'),
      frame('requestFinished'),
      frame('late'),
      frame('requestStarted'),
      frame('cut'),
    ];
    expect(await groups(frames)).toEqual(['requestStarted requestFinished late', 'requestStarted cut']);
  });

  test('one finished request does not wait for the next on a stream that stays open', async () => {
    const endless = (async function* () {
      yield frame('requestStarted', '1');
      yield frame('requestFinished', '1');
      await new Promise(() => {});
    })();
    for await (const group of groupRequests(endless)) {
      expect(group).toHaveLength(2);
      break;
    }
  });

  test('only the own request comes through, with what came before it was known', async () => {
    const frames = [
      frame('requestStarted', '1'),
      frame('requestStarted', '2'),
      frame('other', '1'),
      frame('mine', '2'),
      frame('other', '1'),
      frame('requestFinished', '2'),
    ];
    const own: string[] = [];
    const isOwn = ({ event: { message } }: TraceFrame): boolean | undefined =>
      ({ other: false, mine: true })[message.type as string];
    for await (const each of ownFrames(iterate(frames), isOwn)) own.push(each.event.message.type);
    expect(own).toEqual(['requestStarted', 'mine', 'requestFinished']);
  });
});
