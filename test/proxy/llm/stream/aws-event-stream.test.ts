import { describe, expect, test } from '@jest/globals';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import fc from 'fast-check';

import { AwsEventStreamDecoder, FrameError } from '../../../../proxy/llm/stream/aws-event-stream.ts';
import { awsEvent, awsException, awsFrame } from '../aws-frames.ts';

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

function decoder(limit = 1_000_000) {
  const messages: Message[] = [];
  const sink = {
    message: (headers: ReadonlyMap<string, string>, payload: Uint8Array) =>
      void messages.push({ headers: Object.fromEntries(headers), payload: Buffer.from(payload).toString('utf8') }),
  };
  return { messages, decoder: new AwsEventStreamDecoder(sink, limit) };
}

function decoded(...chunks: readonly Uint8Array[]): readonly Message[] {
  const { messages, decoder: frames } = decoder();
  for (const chunk of chunks) frames.push(chunk);
  frames.end();
  return messages;
}

/** The frame with one byte changed. */
function broken(frame: Uint8Array, at: number): Uint8Array {
  const bytes = Uint8Array.from(frame);
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 0xff;
  return bytes;
}

/** The class of what is thrown; undefined for nothing. */
function fault(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.constructor : error;
  }
}

const HELLO = awsEvent('contentBlockDelta', { delta: { text: 'Grüße 👋' } });

describe('frames of the vendor', () => {
  test('are read with their headers and payloads', () => {
    expect(decoded(HELLO, awsException('throttlingException', 'slow down'))).toEqual([
      {
        headers: {
          ':message-type': 'event',
          ':event-type': 'contentBlockDelta',
          ':content-type': 'application/json',
        },
        payload: '{"delta":{"text":"Grüße 👋"}}',
      },
      {
        headers: { ':message-type': 'exception', ':exception-type': 'throttlingException' },
        payload: '{"message":"slow down"}',
      },
    ]);
  });

  test('are the same however they are cut and whatever they carry', () => {
    const header = fc.stringMatching(/^[a-z:-]{1,20}$/);
    const message = fc.record({ headers: fc.dictionary(header, fc.string(), { maxKeys: 4 }), payload: fc.string() });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 12 }), (messages, cuts) => {
        const whole = Buffer.concat(messages.map(({ headers, payload }) => awsFrame(headers, payload)));
        const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].toSorted((a, b) => a - b);
        const chunks = [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length));
        expect(decoded(...chunks)).toEqual(
          messages.map(({ headers, payload }) => ({ headers: { ...headers }, payload })),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('are read one byte at a time', () => {
    expect(decoded(...Array.from(HELLO, (byte) => Uint8Array.of(byte)))).toHaveLength(1);
  });

  test('may have headers of every other type, which are passed over', () => {
    const codec = new EventStreamCodec(
      (bytes) => Buffer.from(bytes).toString(),
      (text) => Buffer.from(text),
    );
    const frame = codec.encode({
      headers: {
        yes: { type: 'boolean', value: true },
        no: { type: 'boolean', value: false },
        byte: { type: 'byte', value: 1 },
        short: { type: 'short', value: 2 },
        integer: { type: 'integer', value: 3 },
        bytes: { type: 'binary', value: Uint8Array.of(1, 2, 3) },
        when: { type: 'timestamp', value: new Date(0) },
        uuid: { type: 'uuid', value: '00000000-0000-0000-0000-000000000000' },
        ':event-type': { type: 'string', value: 'metadata' },
      },
      body: Uint8Array.of(),
    });
    expect(decoded(frame)).toEqual([{ headers: { ':event-type': 'metadata' }, payload: '' }]);
  });
});

describe('frames that cannot be trusted', () => {
  test.each([
    ['whose length was changed', broken(HELLO, 3), /checksum of a prelude/],
    ['whose prelude has the wrong checksum', broken(HELLO, 9), /checksum of a prelude/],
    ['whose payload was changed', broken(HELLO, -6), /checksum of a frame/],
    ['whose checksum is wrong', broken(HELLO, -1), /checksum of a frame/],
  ])('are refused: one %s', (_what, frame, message) => {
    expect(() => decoded(frame)).toThrow(message);
  });

  test('are refused before they are gathered when they are too large', () => {
    const { decoder: frames } = decoder(1000);
    const large = awsEvent('contentBlockDelta', { delta: { text: 'x'.repeat(2000) } });
    expect(() => frames.push(large.subarray(0, 12))).toThrow(FrameError);
  });

  test('are refused when the stream ends inside one', () => {
    expect(() => decoded(HELLO.subarray(0, 20))).toThrow('the stream ends inside a frame');
  });

  test('give what came before them', () => {
    const { messages, decoder: frames } = decoder();
    expect(() => frames.push(Buffer.concat([HELLO, broken(HELLO, -1)]))).toThrow(FrameError);
    expect(messages).toHaveLength(1);
  });

  test('never do anything but throw a FrameError, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(fault(() => decoded(bytes)) ?? FrameError).toBe(FrameError);
      }),
    );
  });
});
