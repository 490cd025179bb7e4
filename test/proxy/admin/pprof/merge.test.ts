import { describe, expect, test } from '@jest/globals';
import { cpuToPprof, heapToPprof } from '../../../../proxy/admin/pprof/merge.ts';
import { sampledObjects } from '../../../../proxy/admin/pprof/sampled-objects.ts';
import type { CpuProfile, HeapProfile } from '../../../../proxy/admin/pprof/thread-profiler.ts';
import { readProfile } from '../../../../src/profile/read-profile.ts';

const frame = (functionName: string, lineNumber = -1, url = '') => ({
  functionName,
  scriptId: '1',
  url,
  lineNumber,
  columnNumber: 0,
});
const APP = 'file:///srv/app.js';

/** main → work; four samples of work on two lines, one of main, five of nothing to do; one millisecond each. */
const cpuProfile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 4] },
    { id: 2, callFrame: frame('main', 9, APP), children: [3], positionTicks: [{ line: 12, ticks: 1 }] },
    {
      id: 3,
      callFrame: frame('', 19, APP),
      positionTicks: [
        { line: 21, ticks: 3 },
        { line: 22, ticks: 1 },
      ],
    },
    { id: 4, callFrame: frame('(idle)') },
  ],
  startTime: 0,
  endTime: 10_000,
  samples: [3, 3, 3, 3, 2, 4, 4, 4, 4, 4],
  timeDeltas: [0, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000],
};
const run = { frequency: 1000, startedAtMs: 1_700_000_000_000, durationMs: 10 };

describe('merging the CPU profiles of threads', () => {
  test('gives time by stack and line, and leaves idle time out', async () => {
    const profile = readProfile(await cpuToPprof([{ kind: 'profile', thread: 'worker-0', profile: cpuProfile }], run));
    expect(profile.sampleTypes).toEqual([
      { type: 'samples', unit: 'count' },
      { type: 'cpu', unit: 'nanoseconds' },
    ]);
    expect(profile.shownFirst).toBe(1);
    expect(profile.durationNanos).toBe(10_000_000);
    expect(profile.period).toBe(1_000_000);
    const rows = profile.samples.map(({ frames, values }) => [
      frames.map((at) => `${at.name}:${at.line}`).join(' < '),
      ...values,
    ]);
    expect(rows).toEqual([
      ['(anonymous app.js:20):21 < main:10', 3, 3_000_000],
      ['(anonymous app.js:20):22 < main:10', 1, 1_000_000],
      ['main:12', 1, 1_000_000],
    ]);
    expect(profile.samples[0]?.frames[0]?.file).toBe('/srv/app.js');
  });

  test('keeps threads apart by label and says which thread is missing', async () => {
    const bytes = await cpuToPprof(
      [
        { kind: 'profile', thread: 'control', profile: cpuProfile },
        { kind: 'profile', thread: 'worker-0', profile: cpuProfile },
        { kind: 'failed', thread: 'worker-1', reason: 'no answer within 5s' },
      ],
      run,
    );
    const profile = readProfile(bytes);
    expect(new Set(profile.samples.map((sample) => sample.labels['thread']))).toEqual(new Set(['control', 'worker-0']));
    expect(profile.comments).toEqual(['worker-1 is missing: no answer within 5s']);
  });

  test('gives a readable file for a thread that had nothing to do', async () => {
    const idle: CpuProfile = { ...cpuProfile, samples: [4], timeDeltas: [0] };
    const profile = readProfile(await cpuToPprof([{ kind: 'profile', thread: 'control', profile: idle }], run));
    expect(profile.samples).toEqual([]);
  });
});

describe('merging heap profiles', () => {
  const heap: HeapProfile = {
    head: {
      id: 1,
      callFrame: frame('(root)'),
      selfSize: 0,
      children: [
        {
          id: 2,
          callFrame: frame('load', 4, APP),
          selfSize: 600_000,
          children: [{ id: 3, callFrame: frame('parse', 8, APP), selfSize: 2_000_000, children: [] }],
        },
      ],
    },
    samples: [
      { nodeId: 2, size: 600_000 },
      { nodeId: 3, size: 1_000_000 },
      { nodeId: 3, size: 1_000_000 },
    ],
  };

  test('gives live bytes and objects by stack', async () => {
    const profile = readProfile(await heapToPprof([{ kind: 'profile', thread: 'worker-0', profile: heap }], 0));
    expect(profile.shownFirst).toBe(1);
    const rows = profile.samples.map(({ frames, values }) => [frames.map((at) => at.name).join(' < '), values[1]]);
    expect(rows).toEqual([
      ['load', 600_000],
      ['parse < load', 2_000_000],
    ]);
  });

  test('estimates how many objects a sample stands for', () => {
    const interval = 524_288;
    expect(sampledObjects(1_000_000_000, interval)).toBe(1);
    expect(sampledObjects(104 * 5042, interval)).toBe(5042);
    expect(sampledObjects(16 * 32_769, interval)).toBe(21_846);
    expect(sampledObjects(0, interval)).toBe(1);
  });
});
