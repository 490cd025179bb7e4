import { describe, expect, test } from '@jest/globals';

import { Ended } from '../../../../proxy/policy/ext-proc/ended.ts';
import { Lane } from '../../../../proxy/policy/ext-proc/lane.ts';
import type { Reply } from '../../../../proxy/policy/ext-proc/reply.ts';

const reply = (part: Reply['part']): Reply => ({
  part,
  headerMutation: null,
  bodyMutation: null,
  dynamicMetadata: null,
  modeOverride: null,
});

function open(): Lane {
  const lane = new Lane();
  lane.open = true;
  return lane;
}

describe('the replies of one direction', () => {
  test('wait for whoever asks, in order', async () => {
    const lane = open();
    expect(lane.push(reply('headers'))).toBe(true);
    expect(lane.push(reply('body'))).toBe(true);
    expect((await lane.next()).part).toBe('headers');
    expect((await lane.next()).part).toBe('body');
    const waiting = lane.next();
    expect(lane.busy).toBe(true);
    lane.push(reply('trailers'));
    expect((await waiting).part).toBe('trailers');
    expect(lane.busy).toBe(false);
  });

  test('go first to who waits for one, then to who listens', async () => {
    const lane = open();
    const heard: string[] = [];
    lane.push(reply('headers'));
    lane.listen({ onReply: ({ part }) => heard.push(part), onEnded: ({ message }) => heard.push(message) });
    expect(heard).toEqual(['headers']);
    const waiting = lane.next();
    lane.push(reply('headers'));
    for (let i = 0; i < 1000; i++) expect(lane.push(reply('body'))).toBe(true);
    expect((await waiting).part).toBe('headers');
    expect(heard).toHaveLength(1001);
    lane.end(new Ended('over'));
    lane.end(new Ended('again'));
    expect(heard.at(-1)).toBe('over');
  });

  test('are not to be expected before something was asked, nor without end', () => {
    expect(new Lane().push(reply('headers'))).toBe(false);
    const lane = open();
    const taken = Array.from({ length: 100 }, () => lane.push(reply('headers')));
    expect(taken.includes(false)).toBe(true);
    lane.done = true;
    expect(lane.push(reply('headers'))).toBe(true);
  });

  test('end for who waits, who listens and who comes later', async () => {
    const lane = open();
    const waiting = lane.next();
    lane.end(new Ended('over'));
    await expect(waiting).rejects.toThrow('over');
    await expect(lane.next()).rejects.toThrow('over');
    const heard: string[] = [];
    lane.listen({ onReply: () => {}, onEnded: ({ message }) => heard.push(message) });
    expect(heard).toEqual(['over']);
  });
});
