import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { Conversation } from '../../../../proxy/policy/ext-proc/conversation.ts';
import { requestDirection } from '../../../../proxy/policy/ext-proc/direction.ts';
import { DuplexBody } from '../../../../proxy/policy/ext-proc/duplex-body.ts';
import { compileSettings } from '../../../../proxy/policy/ext-proc/settings.ts';
import { Turn } from '../../../../proxy/policy/ext-proc/turn.ts';
import { ServiceError, type RpcEvents, type ServiceClient } from '../../../../proxy/services/contract.ts';
import type { ProcessingRequest, ProcessingResponse } from '../../../../proxy/services/messages/process.ts';
import type { ExtProc } from '../../../../src/config/ir/policy/ext-proc.ts';
import { ManualBody, NotingSink, untraced } from '../../exchange/build.ts';
import { context, deps } from '../build.ts';

/** The far end of a stream, worked by hand. */
class ManualService {
  readonly sent: ProcessingRequest[] = [];
  readonly calls: string[] = [];
  answerMs: number | null = null;
  full = false;
  events: RpcEvents<ProcessingResponse> | null = null;
  #drain: () => void = () => {};

  readonly client: ServiceClient = {
    name: 'manual',
    http: () => Promise.reject(new Error('no HTTP here')),
    unary: () => Promise.reject(new Error('no calls here')),
    stream: (_method, events) => {
      // `as`: the only method that is called here.
      this.events = events as never;
      const isFull = (): boolean => this.full;
      return {
        send: (message) => void this.sent.push(message as never),
        end: () => void this.calls.push('end'),
        cancel: () => void this.calls.push('cancel'),
        close: () => void this.calls.push('close'),
        get full() {
          return isFull();
        },
        onDrain: (listener) => void (this.#drain = listener),
        answerMs: this.answerMs,
        pause: () => void this.calls.push('pause'),
        resume: () => void this.calls.push('resume'),
      };
    },
  };

  drain(): void {
    this.full = false;
    this.#drain();
  }

  piece(text: string, endOfStream = false): void {
    this.events?.onMessage({
      requestBody: { response: { bodyMutation: { streamedResponse: { body: Buffer.from(text), endOfStream } } } },
    });
  }

  /** The bytes that came, `|` between messages and `.` at the end. */
  get body(): string {
    return this.sent
      .map(
        ({ requestBody: part }) => Buffer.from(part?.body ?? []).toString() + (part?.endOfStream === true ? '.' : ''),
      )
      .join('|');
  }

  get paused(): boolean {
    return this.calls.findLast((call) => call === 'pause' || call === 'resume') === 'pause';
  }
}

function flowing({ failOpen = false, full = false, answerMs = null as number | null } = {}) {
  const source = new ManualBody();
  const service = new ManualService();
  service.full = full;
  service.answerMs = answerMs;
  const own = { ...deps(), maxBufferSize: 1024, services: { open: () => service.client } };
  const spec: ExtProc = {
    // `as`: nobody looks at it.
    service: {} as never,
    failureMode: failOpen ? 'failOpen' : 'failClosed',
    initialMetadata: {},
    metadataContext: {},
    requestAttributes: {},
    responseAttributes: {},
    allowModeOverride: false,
    modes: {
      requestHeaders: 'send',
      responseHeaders: 'send',
      requestBody: 'fullDuplexStreamed',
      responseBody: 'fullDuplexStreamed',
      requestTrailers: 'send',
      responseTrailers: 'send',
    },
  };
  const exchange = untraced({ body: source });
  const conversation = new Conversation(compileSettings(spec, 'extProc', context(own)), exchange);
  const direction = requestDirection(exchange);
  const { signal } = new AbortController();
  const duplex = new DuplexBody(new Turn({ conversation, exchange, direction, attributes: {}, failOpen, signal }));
  duplex.begin();
  const sink = new NotingSink();
  return { source, service, conversation, duplex, sink, clock: own.clock };
}

describe('a body on its way through a service', () => {
  test('goes there in pieces, and on as it comes back', () => {
    const { source, service, duplex, sink } = flowing();
    duplex.out.pipe(sink);
    source.send('abc', 'x'.repeat(100_000));
    source.end();
    expect(service.body).toBe(`abc|${'x'.repeat(65_536)}|${'x'.repeat(100_000 - 65_536)}|.`);
    service.piece('A');
    service.piece('B', true);
    expect(sink.events).toEqual(['A', 'B', 'end']);
  });

  test('is not begun before the service can be reached, so that it can still pass', () => {
    const { source, service, duplex, sink, conversation } = flowing({ failOpen: true, full: true });
    expect(source.calls).toEqual([]);
    service.events?.onEnd(new ServiceError('unreachable', 'nobody there'));
    duplex.out.pipe(sink);
    source.send('abc');
    source.end(Headers.from([['x-sum', '1']]));
    expect(sink.events).toEqual(['abc', 'end x-sum,1']);
    expect(service.sent).toEqual([]);
    expect(conversation.skipped).toBe(true);
  });

  test('is cut when the service fails after its first byte, and the source is told', () => {
    const { source, service, duplex, sink, conversation } = flowing({ failOpen: true });
    duplex.out.pipe(sink);
    source.send('abc');
    service.events?.onEnd(null);
    expect(sink.events).toEqual(['error the service ended the stream early']);
    expect(source.calls).toContain('cancel');
    expect(conversation.cut).toBe(true);
  });

  test('cuts the conversation when the source is cut', () => {
    const { source, service, duplex, sink } = flowing();
    duplex.out.pipe(sink);
    source.send('abc');
    source.fail('reset');
    expect(sink.events).toEqual(['error reset']);
    expect(service.calls).toContain('cancel');
    expect(duplex.cut?.message).toBe('reset');
  });

  test('rests while the service does not take more, and while the far end does not', () => {
    const { source, service, duplex, sink } = flowing();
    service.full = true;
    source.send('abc');
    expect(source.paused).toBe(true);
    service.drain();
    expect(source.paused).toBe(false);
    service.piece('x'.repeat(300_000));
    expect(source.paused).toBe(true);
    expect(service.paused).toBe(false);
    service.piece('x'.repeat(800_000));
    expect(service.paused).toBe(true);
    duplex.out.pipe(sink);
    expect(source.paused).toBe(false);
    expect(service.paused).toBe(false);
  });

  test('is not held without end for a service that does not rest', () => {
    const { source, service, duplex, sink } = flowing();
    source.send('abc');
    for (let i = 0; i < 20; i++) service.piece('x'.repeat(500_000));
    duplex.out.pipe(sink);
    expect(sink.events).toEqual(['error the service sent more than can be held']);
    expect(service.calls).toContain('cancel');
  });

  test('ends with the answer to its trailers, where it has some', () => {
    const { source, service, duplex, sink } = flowing();
    duplex.out.pipe(sink);
    source.send('abc');
    source.end(Headers.from([['x-sum', '1']]));
    service.piece('abc', true);
    expect(sink.events).toEqual(['abc']);
    service.events?.onMessage({
      requestTrailers: { headerMutation: { setHeaders: [{ header: { key: 'x-sum', value: '2' } }] } },
    });
    expect(sink.events).toEqual(['abc', 'end x-sum,2']);
  });

  test('may end early: the rest of the source is not wanted', () => {
    const { source, service, duplex, sink } = flowing();
    duplex.out.pipe(sink);
    source.send('abc');
    service.piece('short', true);
    expect(sink.events).toEqual(['short', 'end']);
    expect(source.calls).toContain('cancel');
    expect(service.calls).not.toContain('cancel');
  });

  test('is given up when the service does not go on in time with a body that it has whole', () => {
    const { source, service, duplex, sink, clock } = flowing({ answerMs: 100 });
    duplex.out.pipe(sink);
    source.send('abc');
    clock.advance(1000);
    expect(sink.events).toEqual([]);
    source.end();
    clock.advance(90);
    service.piece('abc');
    clock.advance(90);
    expect(sink.events).toEqual(['abc']);
    clock.advance(20);
    expect(sink.events).toEqual(['abc', 'error the service did not answer in time']);
  });

  test('lets go when the far end wants no more', () => {
    const { source, service, duplex, sink } = flowing();
    duplex.out.pipe(sink);
    source.send('abc');
    duplex.out.cancel();
    expect(source.calls).toContain('cancel');
    service.piece('late');
    expect(sink.events).toEqual([]);
  });
});
