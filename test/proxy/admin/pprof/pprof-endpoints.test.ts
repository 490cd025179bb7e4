import { describe, expect, test } from '@jest/globals';
import { PprofEndpoints } from '../../../../proxy/admin/pprof/pprof-endpoints.ts';
import type { PprofEnvironment, ProfiledThreads } from '../../../../proxy/admin/pprof/pprof-endpoints.ts';
import type { CpuProfile } from '../../../../proxy/admin/pprof/thread-profiler.ts';
import { readProfile } from '../../../../src/profile/read-profile.ts';

const never = new AbortController().signal;
const nothing: CpuProfile = { nodes: [], startTime: 0, endTime: 0, samples: [], timeDeltas: [] };

/** Threads that write down what they were told, and a clock on which sampling takes no time. */
function setUp(environment: Partial<PprofEnvironment> = {}, threads: Partial<ProfiledThreads> = {}) {
  const told: string[] = [];
  const endpoints = new PprofEndpoints(
    {
      startCpu: (frequency) => (told.push(`start ${frequency}`), Promise.resolve()),
      stopCpu: () => (told.push('stop'), Promise.resolve([{ kind: 'profile', thread: 'control', profile: nothing }])),
      heap: () => Promise.resolve([]),
      ...threads,
    },
    {
      platform: 'linux',
      now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
      wait: (ms) => (told.push(`wait ${ms}`), Promise.resolve()),
      ...environment,
    },
  );
  return { endpoints, told };
}

describe('/debug/pprof/profile', () => {
  test('samples ten seconds at 100 Hz unless told otherwise', async () => {
    const { endpoints, told } = setUp();
    const reply = await endpoints.cpu(new URLSearchParams(), never);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-disposition']).toBe('attachment; filename="gw-cpu-20260102-030405.pb.gz"');
    expect(readProfile(reply.body as Uint8Array).samples).toEqual([]);
    await endpoints.cpu(new URLSearchParams('seconds=300&frequency=1000'), never);
    expect(told).toEqual(['start 100', 'wait 10000', 'stop', 'start 1000', 'wait 300000', 'stop']);
  });

  test.each([
    ['seconds=0', 'seconds must be one whole number from 1 to 300, not "0"'],
    ['seconds=301', 'seconds must be one whole number from 1 to 300, not "301"'],
    ['seconds=', 'seconds must be one whole number from 1 to 300, not ""'],
    ['seconds=1.5', 'seconds must be one whole number from 1 to 300, not "1.5"'],
    ['seconds=5&seconds=6', 'seconds must be one whole number from 1 to 300, not "5 and 6"'],
    ['frequency=0', 'frequency must be one whole number from 1 to 1000, not "0"'],
    ['frequency=fast', 'frequency must be one whole number from 1 to 1000, not "fast"'],
    ['frequency=-1', 'frequency must be one whole number from 1 to 1000, not "-1"'],
    ['frequency=1e2', 'frequency must be one whole number from 1 to 1000, not "1e2"'],
  ])('refuses %s', async (query, message) => {
    const { endpoints, told } = setUp();
    expect(await endpoints.cpu(new URLSearchParams(query), never)).toMatchObject({ status: 400, body: `${message}\n` });
    expect(told).toEqual([]);
  });

  test('refuses a second run until the first is done', async () => {
    const first = Promise.withResolvers<void>();
    const { endpoints } = setUp({ wait: () => first.promise });
    const running = endpoints.cpu(new URLSearchParams(), never);
    expect(await endpoints.cpu(new URLSearchParams(), never)).toMatchObject({ status: 409 });
    first.resolve();
    expect((await running).status).toBe(200);
    expect((await endpoints.cpu(new URLSearchParams(), never)).status).toBe(200);
  });

  test('stops sampling when the client leaves, and is free for the next', async () => {
    const { told } = setUp();
    const client = new AbortController();
    const endpoints = new PprofEndpoints(
      {
        startCpu: () => Promise.resolve(client.abort()),
        stopCpu: () => (told.push('stop'), Promise.resolve([])),
        heap: () => Promise.resolve([]),
      },
      { platform: 'linux', now: Date.now, wait: (_ms, signal) => Promise.reject(signal.reason) },
    );
    await expect(endpoints.cpu(new URLSearchParams(), client.signal)).rejects.toThrow('aborted');
    expect(told).toEqual(['stop']);
    await expect(endpoints.cpu(new URLSearchParams(), client.signal)).rejects.toThrow('aborted');
  });

  test('is not there on other platforms', async () => {
    const { endpoints } = setUp({ platform: 'darwin' });
    expect(await endpoints.cpu(new URLSearchParams(), never)).toMatchObject({ status: 404 });
  });

  test('answers 500 with each thread’s reason when no thread gave a profile', async () => {
    const { endpoints } = setUp(
      {},
      {
        stopCpu: () => Promise.resolve([{ kind: 'failed', thread: 'worker-0', reason: 'no answer' }]),
      },
    );
    const reply = await endpoints.cpu(new URLSearchParams(), never);
    expect(reply).toMatchObject({ status: 500, body: 'no thread gave a profile; worker-0: no answer\n' });
  });
});
