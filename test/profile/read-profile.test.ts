import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ProfileError } from '../../src/profile/profile-error.ts';
import { readProfile } from '../../src/profile/read-profile.ts';
import { encodeProfile } from './sample-profile.ts';

const plain = encodeProfile([
  { stack: 'main;serve;parse', values: [3, 30_000_000], labels: { thread: 'worker-0', bytes: 512 } },
  { stack: 'main;wait', values: [1, -9_007_199_254_740_991] },
  { stack: '', values: [0, 4_294_967_296] },
]);

function codeOf(bytes: Uint8Array): string {
  try {
    readProfile(bytes);
  } catch (error) {
    if (error instanceof ProfileError) return error.code;
    throw error;
  }
  return 'read';
}

describe('reading a profile', () => {
  test.each([
    ['plain', plain],
    ['gzipped', gzipSync(plain)],
  ])('resolves names, lines, values and labels of a %s file', (_, bytes) => {
    const profile = readProfile(bytes);
    expect(profile.samples[0]).toEqual({
      frames: [
        { name: 'parse', file: '/src/parse.go', line: 11 },
        { name: 'serve', file: '/src/serve.go', line: 12 },
        { name: 'main', file: '/src/main.go', line: 13 },
      ],
      values: [3, 30_000_000],
      labels: { thread: 'worker-0', bytes: 512 },
    });
    expect(profile.samples.map((sample) => sample.values[1])).toEqual([
      30_000_000, -9_007_199_254_740_991, 4_294_967_296,
    ]);
    expect(profile).toMatchObject({ durationNanos: 3e10, period: 1e7, startedAtMs: 1.7e12, comments: ['a comment'] });
  });

  test('shows the last sample type when the file marks none', () => {
    expect(readProfile(plain).shownFirst).toBe(1);
  });

  test.each([
    ['an empty file', new Uint8Array(), 'GW_PROFILE_EMPTY'],
    ['a JSON file', Buffer.from('{"services":[],"binds":[]}'), 'GW_PROFILE_INVALID'],
    ['an HTML page', Buffer.from('<!doctype html><title>Not found</title>'), 'GW_PROFILE_INVALID'],
    [
      'damaged compressed data',
      Buffer.concat([gzipSync(plain).subarray(0, 12), Buffer.alloc(80, 0xff)]),
      'GW_PROFILE_INVALID',
    ],
    ['compressed data that ends early', gzipSync(plain).subarray(0, -20), 'GW_PROFILE_CUT'],
    ['a gzip header alone', Buffer.from([0x1f, 0x8b]), 'GW_PROFILE_CUT'],
    ['a plain file that ends inside a part', plain.subarray(0, -60), 'GW_PROFILE_CUT'],
    ['a number that never ends', Buffer.alloc(64, 0xff), 'GW_PROFILE_INVALID'],
    ['a part longer than memory', Buffer.from([0x32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), 'GW_PROFILE_CUT'],
  ])('refuses %s', (_, bytes, code) => {
    expect(['GW_PROFILE_INVALID', 'GW_PROFILE_CUT', 'GW_PROFILE_EMPTY']).toContain(codeOf(bytes));
    expect(codeOf(bytes)).toBe(code);
  });

  test('never reads a cut file as a whole one', () => {
    const whole = readProfile(plain);
    for (let length = 1; length < plain.length; length += 1) {
      if (codeOf(plain.subarray(0, length)) !== 'read') continue;
      // What stands after the names is optional; a cut there loses no sample.
      expect(readProfile(plain.subarray(0, length)).samples).toEqual(whole.samples);
    }
  });

  test('answers any bytes with a profile or a profile error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(plain.length - 1), (noise, at) => {
        const damaged = Uint8Array.from(plain);
        damaged.set(noise.subarray(0, plain.length - at), at);
        codeOf(damaged);
        codeOf(noise);
      }),
    );
  });
});
