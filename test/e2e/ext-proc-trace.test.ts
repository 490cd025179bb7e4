import { afterEach, describe, expect, test } from '@jest/globals';

import { Cleanup, echo } from './gateway.ts';
import { common, modes, nothingOpen, processedGateway, processor, type Script, set } from './processor.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** What a trace tells of the policy for one request, and of its call. */
async function told(script: Script, more = '', policies = '') {
  const service = await processor(cleanup, script);
  const gateway = await processedGateway(cleanup, service, { backend: echo, more, policies });
  const watch = cleanup.add(await TraceWatch.open(gateway.admin));
  const asking = gateway.ask('/a', { method: 'POST', body: 'hello' });
  const lines = (await watch.finished()).split('\n').filter((line) => line.startsWith('data: '));
  await asking;
  await nothingOpen(service);
  const events = lines.map((line) => JSON.parse(line.slice('data: '.length)));
  const outcomes = events.filter(({ message }) => message.kind === 'ext_proc');
  return {
    told: outcomes.map(({ severity, message }) => [
      severity,
      message.result?.details ?? message.result?.reason ?? message.details,
    ]),
    calls: events.filter(({ scope }) => scope?.includes('ext_proc')).map(({ message }) => message.type),
  };
}

const from = '(from route default/route0)';
const buffered = modes({ requestBodyMode: 'buffered', responseBodyMode: 'none' });

describe('a trace of external processing', () => {
  test('counts what was changed in each direction, without the values', async () => {
    const { told: outcomes, calls } = await told(
      {
        requestHeaders: () => ({
          ...common('requestHeaders', {
            headerMutation: { setHeaders: [set('x-a', '1')], removeHeaders: ['x-b', 'content-length'] },
          }),
          dynamicMetadata: { token: 'secret' },
        }),
        requestBody: () => common('requestBody', { bodyMutation: { body: Buffer.from('x') } }),
      },
      buffered,
    );
    expect(outcomes).toEqual([
      ['info', `request: 1 header set, 2 headers removed, 1 value of metadata, body replaced by 1 byte ${from}`],
      ['info', `response: nothing changed ${from}`],
    ]);
    expect(calls).toEqual(['backendCallStart', 'backendCallResult']);
  });

  test('tells of an answer of the service itself, and who was let pass', async () => {
    const answered = await told({
      responseHeaders: () => ({ immediateResponse: { status: { code: 403 } } }),
    });
    expect(answered.told).toEqual([
      ['info', `request: body streams through the service ${from}`],
      ['warn', `response: direct response with status 403 ${from}`],
    ]);
    const passed = await told(
      { requestHeaders: (_part, { call }) => (call.fail(14, 'closed for today'), null) },
      `failureMode: failOpen, ${buffered}`,
    );
    expect(passed.told).toEqual([['warn', `request: let pass: UNAVAILABLE: closed for today ${from}`]]);
  });

  test('tells why it failed', async () => {
    const failed = await told({ requestHeaders: () => ({}) });
    const why = 'ext_proc failed: the service sent an answer without content';
    expect(failed.told).toEqual([['error', `request: failed: ${why} ${from}`]]);
    const late = await told({ requestHeaders: () => null }, buffered, 'timeout: {requestTimeout: 50ms}');
    expect(late.told).toEqual([['error', `request: failed: request timeout ${from}`]]);
  });

  test('tells that nothing is sent', async () => {
    const skips = {
      requestHeaderMode: 'skip',
      responseHeaderMode: 'skip',
      requestBodyMode: 'none',
      responseBodyMode: 'none',
      requestTrailerMode: 'skip',
      responseTrailerMode: 'skip',
    };
    expect((await told({}, modes(skips))).told).toEqual([['info', `nothing of the request is sent ${from}`]]);
  });
});
