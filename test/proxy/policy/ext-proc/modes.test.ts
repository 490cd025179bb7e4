import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { isSilent, modesOf, overridden, wireMode } from '../../../../proxy/policy/ext-proc/modes.ts';
import type { ProcessingMode } from '../../../../proxy/services/messages/process.ts';
import type { ExtProcModes } from '../../../../src/config/ir/policy/ext-proc.ts';

const plain: ExtProcModes = {
  requestHeaders: 'send',
  responseHeaders: 'send',
  requestBody: 'none',
  responseBody: 'none',
  requestTrailers: 'send',
  responseTrailers: 'send',
};

/** A message whose fields that are not set have their defaults. */
function override(set: ProcessingMode): ProcessingMode {
  return {
    requestHeaderMode: 'DEFAULT',
    responseHeaderMode: 'DEFAULT',
    requestBodyMode: 'NONE',
    responseBodyMode: 'NONE',
    requestTrailerMode: 'DEFAULT',
    responseTrailerMode: 'DEFAULT',
    ...set,
  };
}

describe('overriding modes', () => {
  test('in answer to request headers changes everything but these', () => {
    const asked = override({
      requestHeaderMode: 'SKIP',
      responseHeaderMode: 'SKIP',
      requestBodyMode: 'BUFFERED',
      responseBodyMode: 'BUFFERED_PARTIAL',
      requestTrailerMode: 'SKIP',
      responseTrailerMode: 'SKIP',
    });
    expect(overridden(plain, asked, 'request')).toEqual({
      requestHeaders: 'send',
      responseHeaders: 'skip',
      requestBody: 'buffered',
      responseBody: 'bufferedPartial',
      requestTrailers: 'skip',
      responseTrailers: 'skip',
    });
    expect(overridden(plain, asked, 'response')).toEqual({
      ...plain,
      responseBody: 'bufferedPartial',
      responseTrailers: 'skip',
    });
  });

  test('leaves what is not set, where that can be told, and modes that are not known', () => {
    const modes: ExtProcModes = { ...plain, requestBody: 'buffered', responseHeaders: 'skip' };
    expect(overridden(modes, override({ requestBodyMode: 'STREAMED' }), 'request')).toEqual(modes);
    expect(overridden(modes, override({ requestBodyMode: 99, responseHeaderMode: 99 }), 'request')).toEqual(modes);
    expect(overridden(modes, override({}), 'request')).toEqual({ ...modes, requestBody: 'none' });
  });

  test('never takes a body from its stream, and a stream always has its trailers', () => {
    const mode = fc.constantFrom('NONE', 'BUFFERED', 'BUFFERED_PARTIAL', 'FULL_DUPLEX_STREAMED', 'STREAMED');
    const send = fc.constantFrom('DEFAULT', 'SEND', 'SKIP');
    const any = fc.record({
      requestHeaderMode: send,
      responseHeaderMode: send,
      requestBodyMode: mode,
      responseBodyMode: mode,
      requestTrailerMode: send,
      responseTrailerMode: send,
    }) as fc.Arbitrary<ProcessingMode>;
    fc.assert(
      fc.property(any, fc.constantFrom('request', 'response'), (asked, side) => {
        const streams = { ...plain, requestBody: 'fullDuplexStreamed', responseBody: 'fullDuplexStreamed' } as const;
        const changed = overridden(streams, asked, side);
        expect(changed).toMatchObject({
          requestBody: 'fullDuplexStreamed',
          responseBody: 'fullDuplexStreamed',
          requestTrailers: 'send',
          responseTrailers: 'send',
        });
        expect(changed.requestHeaders).toBe('send');
      }),
    );
  });
});

test('a direction is silent when none of its parts is sent', () => {
  const skips: ExtProcModes = { ...plain, responseHeaders: 'skip', responseTrailers: 'skip' };
  expect(isSilent(modesOf(skips, 'response'))).toBe(true);
  expect(isSilent(modesOf(skips, 'request'))).toBe(false);
  expect(isSilent(modesOf({ ...skips, responseTrailers: 'send' }, 'response'))).toBe(false);
  expect(wireMode('bufferedPartial')).toBe('BUFFERED_PARTIAL');
});
