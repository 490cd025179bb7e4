import { describe, expect, test } from '@jest/globals';

import { EventStream } from '../../../../proxy/mcp/http/event-stream.ts';
import type { RpcNotification } from '../../../../proxy/mcp/message/message.ts';
import type { Calling } from '../../../../proxy/mcp/targets/contract.ts';
import { NotingSink } from '../../exchange/build.ts';

const note = (bytes: number): RpcNotification => ({
  kind: 'notification',
  method: 'notifications/message',
  params: { data: 'x'.repeat(bytes) },
});

function calling(): Calling & { readonly notes: string[] } {
  const notes: string[] = [];
  return {
    notes,
    cancel: () => void notes.push('cancel'),
    pause: () => void notes.push('pause'),
    resume: () => void notes.push('resume'),
  };
}

describe('EventStream', () => {
  test('pauses its calls while the client does not read, and loses nothing', () => {
    const stream = new EventStream();
    const { body } = stream.response();
    const first = calling();
    stream.feed(first);
    const sink = new NotingSink(body);
    body.pipe(sink);
    for (let i = 0; i < 7; i++) stream.message(note(10_000));
    expect(first.notes).toEqual([]);
    stream.message(note(10_000));
    expect(first.notes).toEqual(['pause']);
    const late = calling();
    stream.feed(late);
    expect(late.notes).toEqual(['pause']);
    body.resume();
    expect(first.notes).toEqual(['pause', 'resume']);
    for (let i = 0; i < 7; i++) body.resume();
    stream.end();
    expect(sink.events).toHaveLength(9);
    expect(sink.events.at(-1)).toBe('end');
    expect([first.notes, late.notes]).toEqual([
      ['pause', 'resume'],
      ['pause', 'resume'],
    ]);
  });

  test('cuts a client off that reads nothing from calls that do not pause', () => {
    let gone = 0;
    const stream = new EventStream(() => (gone += 1));
    const { body } = stream.response();
    const deaf = calling();
    stream.feed(deaf);
    const sink = new NotingSink(body);
    body.pipe(sink);
    for (let i = 0; i < 40; i++) stream.message(note(1_000_000));
    expect(sink.events.at(-1)).toBe('error client does not read its events');
    expect(deaf.notes).toEqual(['pause', 'cancel']);
    expect([gone, stream.over]).toEqual([1, true]);
    const after = calling();
    stream.feed(after);
    expect(after.notes).toEqual(['cancel']);
  });

  test('lets one message pass whatever its size', () => {
    const stream = new EventStream();
    const { body } = stream.response();
    stream.message(note(30_000_000));
    const sink = new NotingSink();
    body.pipe(sink);
    expect(sink.text).toHaveLength(
      30_000_000 +
        'event: message\ndata: \n\n'.length +
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: '' } }).length,
    );
  });

  test('cancels its calls when the client leaves, and not those that have ended', () => {
    let gone = 0;
    const stream = new EventStream(() => (gone += 1));
    const { body } = stream.response();
    const [open, ended] = [calling(), calling()];
    stream.feed(open);
    stream.feed(ended);
    stream.fed(ended);
    body.pipe(new NotingSink());
    body.cancel();
    stream.abandon();
    expect([open.notes, ended.notes, gone]).toEqual([['cancel'], [], 1]);
  });
});
