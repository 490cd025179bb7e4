import { describe, expect, test } from '@jest/globals';

import { retryInfoMs } from '../../../../proxy/telemetry/otlp/retry-info.ts';

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

const field = (number: number, bytes: Uint8Array | string): Buffer => {
  const content = Buffer.from(bytes);
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.byteLength]), content]);
};
const status = (type: string, value: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0x08, 8]), field(2, 'busy'), field(3, Buffer.concat([field(1, type), field(2, value)]))]);

describe('the pause that a service asks for', () => {
  test.each([
    ['two seconds', [0x08, 2], 2000],
    ['half a second', [0x10, 0x80, 0xca, 0xb5, 0xee, 0x01], 500],
    ['nothing', [], 0],
    ['less than nothing', [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 0],
  ])('is %s', (_name, duration, ms) => {
    expect(retryInfoMs(status(RETRY_INFO, field(1, Buffer.from(duration))))).toBe(ms);
  });

  test('is none without a duration to wait', () => {
    expect(retryInfoMs(status(RETRY_INFO, Buffer.alloc(0)))).toBe(0);
  });

  test.each([
    ['no details', null],
    ['empty details', Buffer.alloc(0)],
    ['details of another kind', status('type.googleapis.com/google.rpc.DebugInfo', Buffer.alloc(0))],
    ['details that are cut', status(RETRY_INFO, field(1, Buffer.from([0x08, 2]))).subarray(0, 20)],
    ['what is no message', Buffer.from('not a message at all')],
  ])('is not asked for by %s', (_name, details) => {
    expect(retryInfoMs(details)).toBeNull();
  });
});
