import { describe, expect, test } from '@jest/globals';

import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { BufferedBody, type BodySink } from '../../../proxy/exchange/body.ts';
import { Exchange } from '../../../proxy/exchange/exchange.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { TraceGate } from '../../../proxy/supervisor/trace-gate.ts';
import { AccessLog } from '../../../proxy/telemetry/access-log.ts';
import { recordBody } from '../../../proxy/telemetry/body-recorder.ts';
import { LogWriter } from '../../../proxy/telemetry/log-writer.ts';
import { Outbox, type Batch } from '../../../proxy/telemetry/outbox.ts';
import { Recorder } from '../../../proxy/telemetry/recorder.ts';
import { Redaction } from '../../../proxy/telemetry/redaction.ts';
import { requestState } from '../../../proxy/telemetry/request-state.ts';

const now = () => 1767323045678.901;

function accessLog(format: 'text' | 'json', level = { info: true, debug: false }) {
  const lines: string[] = [];
  const log = new AccessLog({ format, write: (line) => void lines.push(line), now });
  log.setLevel(level);
  return { log, lines };
}

const record = {
  connectionId: 7,
  requestId: 'r1',
  gateway: 'default/web',
  listener: 'http',
  route: 'default/cart',
  endpoint: '10.1.2.3:8080',
  sourceAddress: '10.0.0.9:51512',
  method: 'GET',
  host: 'shop.test',
  path: '/cart',
  version: 'HTTP/1.1',
  status: 200,
  tlsSni: 'shop.test',
  protocol: 'http',
  retryAttempt: 0,
  reason: 'Upstream',
  durationMs: 3.2,
} as const;

describe('the access log', () => {
  test('writes the fields in order as text', () => {
    const { log, lines } = accessLog('text');
    log.write(record);
    expect(lines).toEqual([
      '2026-01-02T03:04:05.678901Z\tinfo\trequest gateway=default/web listener=http route=default/cart endpoint=10.1.2.3:8080 src.addr=10.0.0.9:51512 http.method=GET http.host=shop.test http.path=/cart http.version=HTTP/1.1 http.status=200 protocol=http duration=3ms\n',
    ]);
  });

  test('writes the same fields as JSON, with error, reason and retries of a failure', () => {
    const { log, lines } = accessLog('json');
    log.write({
      ...record,
      status: 503,
      reason: 'UpstreamFailure',
      error: 'upstream call failed: "reset"',
      retryAttempt: 2,
    });
    const line = JSON.parse(lines[0] ?? '');
    expect(Object.keys(line).slice(0, 4)).toEqual(['level', 'time', 'scope', 'gateway']);
    expect(Object.keys(line).slice(-4)).toEqual(['retry.attempt', 'error', 'reason', 'duration']);
    expect(line).toMatchObject({ 'http.status': 503, 'retry.attempt': 2, reason: 'UpstreamFailure', duration: '3ms' });
  });

  test('quotes the error, and whatever could be mistaken for other fields', () => {
    const { log, lines } = accessLog('text');
    log.write({ path: '/a b="c"\nforged', error: 'gone', durationMs: 0 });
    expect(lines[0]).toContain(' http.path="/a b=\\"c\\"\\nforged" error="gone" duration=0ms\n');
  });

  test('shows ids at debug, the SNI only without a host, and leaves out what is removed', () => {
    const { log, lines } = accessLog('text', { info: true, debug: true });
    log.setHidden(['src.addr', 'duration', 'connection.id']);
    log.write({ ...record, host: undefined });
    expect(lines[0]).toContain('\trequest request.id=r1 gateway=');
    expect(lines[0]).toContain(' tls.sni=shop.test protocol=http\n');
    expect(lines[0]).not.toContain('src.addr');
  });

  test('is silent while its scope is off', () => {
    const { log, lines } = accessLog('text', { info: false, debug: false });
    log.write(record);
    expect([log.enabled, lines]).toEqual([false, []]);
  });
});

describe('redaction', () => {
  const redaction = new Redaction(['x-custom']);

  test.each([
    'authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'x-api-key',
    'api-key',
    'x-goog-api-key',
    'x-custom',
  ])('hides %s', (name) => {
    expect(redaction.header(name, 'secret')).toBe('<redacted>');
  });

  test.each([
    ['/a?access_token=s&b=1', '/a?access_token=<redacted>&b=1'],
    ['/a?API-KEY=s', '/a?API-KEY=<redacted>'],
    ['/a?api%5Fkey=s&%zz=1', '/a?api%5Fkey=<redacted>&%zz=1'],
    ['/a?sig=s?x&keyboard=qwerty', '/a?sig=<redacted>&keyboard=qwerty'],
    ['/a?flag&=x', '/a?flag&=x'],
    ['/token/key', '/token/key'],
  ])('of %s shows %s', (target, shown) => {
    expect(redaction.target(target)).toBe(shown);
  });
});

function exchange(headers: readonly (readonly [string, string])[]): Exchange {
  const request = {
    method: 'GET',
    scheme: 'https' as const,
    authority: 'shop.test:8443',
    target: '/cart?token=s&x=1',
    version: 'HTTP/1.1' as const,
    headers: Headers.from(headers),
    body: new BufferedBody(new Uint8Array()),
    upgrade: null,
  };
  const connection = {
    id: 1,
    bind: 'bind/8443',
    bindPort: 8443,
    sourceAddress: '10.0.0.9',
    sourcePort: 1,
    rawAddress: '10.0.0.9',
    rawPort: 1,
    destinationAddress: '10.0.0.1',
    destinationPort: 8443,
    tls: null,
  };
  const transport = {
    respond() {},
    informational() {},
    takeOver: () => null,
    onClientGone() {},
    closeAfterResponse() {},
  };
  return new Exchange(request, connection, transport, null);
}

test('the state of a request keeps repeated fields, hides credentials and leaves out what is not known', () => {
  const state = requestState(
    exchange([
      ['accept', '*/*'],
      ['x-a', '1'],
      ['x-a', '2'],
      ['cookie', 's'],
    ]),
    { redaction: new Redaction([]), response: { status: 200, headers: Headers.from([['grpc-status', '0']]) } },
  );
  expect(state).toMatchObject({
    request: {
      uri: 'https://shop.test:8443/cart?token=<redacted>&x=1',
      path: '/cart',
      pathAndQuery: '/cart?token=<redacted>&x=1',
      host: 'shop.test',
      headers: { accept: '*/*', 'x-a': ['1', '2'], cookie: '<redacted>' },
    },
    response: { code: 200, grpcStatus: 0 },
    source: { address: '10.0.0.9', port: 1 },
  });
  expect(Object.keys(state)).toEqual(['request', 'response', 'source', 'destination']);
});

describe('a recorded body', () => {
  const sink = (into: string[]): BodySink => ({
    onData: (chunk) => void into.push(Buffer.from(chunk).toString()),
    onEnd: () => void into.push('end'),
    onError: () => void into.push('error'),
  });

  test('passes through whole and is reported up to the limit', () => {
    const events: TraceEvent[] = [];
    const trace = new Recorder('r', (event) => void events.push(event));
    const seen: string[] = [];
    recordBody(new BufferedBody(Buffer.from('hello world')), trace, { stage: 'response', limit: 5 }).pipe(sink(seen));
    expect(seen).toEqual(['hello world', 'end']);
    expect(events.map(({ message }) => message)).toEqual([
      { type: 'bodySnapshot', stage: 'response', body: Buffer.from('hello').toString('base64'), truncated: 6 },
    ]);
  });

  test('is reported once when its reader gives up, and lets the trace end', () => {
    const events: TraceEvent[] = [];
    let held = 0;
    const life = { hold: () => void (held += 1), release: () => void (held -= 1) };
    const trace = new Recorder('r', (event) => void events.push(event), 0, [], life);
    const body = recordBody(new BufferedBody(Buffer.from('x')), trace, { stage: 'response', limit: 5 });
    expect(held).toBe(1);
    body.cancel();
    body.cancel();
    expect([held, events.length]).toEqual([0, 1]);
  });
});

describe('the outbox', () => {
  function outbox(maxItems: number) {
    const batches: Batch<string>[] = [];
    const box = new Outbox<string>({
      post: (batch) => void batches.push(batch),
      sizeOf: (item) => item.length,
      maxItems,
      maxBytes: 1000,
      batchBytes: 1,
      delayMs: 1000,
    });
    return { box, batches };
  }

  test('stops posting while the receiver is behind, drops when full, and counts what is lost', () => {
    const { box, batches } = outbox(2);
    for (let n = 0; n < 10; n++) box.push(`i${n}`);
    expect(batches).toHaveLength(4);
    box.acknowledge();
    expect(batches[4]).toEqual({ items: ['i4', 'i5'], dropped: 4 });
    box.close();
  });
});

describe('the log writer', () => {
  test('writes in order, one write at a time, and marks where a thread lost lines', async () => {
    const written: string[] = [];
    let running = 0;
    const writer = new LogWriter(
      {
        write: async (text) => {
          running += 1;
          expect(running).toBe(1);
          await Promise.resolve();
          written.push(text);
          running -= 1;
        },
      },
      'text',
    );
    let acknowledged = 0;
    writer.line('first\n');
    writer.batch({ items: ['a\n', 'b\n'], dropped: 3 }, () => (acknowledged += 1));
    await writer.flush();
    expect(written.join('')).toMatch(/^first\na\nb\n.*\twarn\tlog\tdropped 3 lines, the output is too slow\n$/s);
    expect(acknowledged).toBe(1);
  });

  test('goes on after an output that fails, and drops instead of growing while it stands still', async () => {
    const gate = Promise.withResolvers<void>();
    const written: string[] = [];
    const writer = new LogWriter(
      {
        write: async (text) => {
          if (written.length === 0) {
            written.push('');
            await gate.promise;
            throw new Error('EPIPE');
          }
          written.push(text);
        },
      },
      'text',
    );
    writer.line('lost\n');
    await Promise.resolve();
    await Promise.resolve();
    for (let n = 0; n < 20; n++) writer.line('x'.repeat(2 ** 20));
    gate.resolve();
    await writer.flush();
    writer.line('after\n');
    await writer.flush();
    expect(written.join('').length).toBeLessThan(10 * 2 ** 20);
    expect(written.join('')).toMatch(/dropped 12 lines.*\nafter\n$/);
  });
});

describe('the trace gate', () => {
  test('gives each waiting watcher to one thread, oldest first', () => {
    const control = new TraceGate();
    const threads = [new TraceGate(control.buffer), new TraceGate(control.buffer)];
    expect(threads[0]?.watched()).toBe(false);
    const slots = [control.wait(), control.wait()];
    expect([threads[0]?.claim(() => true), threads[1]?.claim(() => true), threads[0]?.claim(() => true)]).toEqual([
      ...slots,
      -1,
    ]);
    expect(threads[0]?.watched()).toBe(false);
  });

  test('a withdrawn watcher cannot be claimed, a claimed one not withdrawn', () => {
    const gate = new TraceGate();
    const first = gate.wait();
    expect(gate.withdraw(first)).toBe(true);
    gate.release(first);
    const second = gate.wait();
    expect(gate.claim(() => true)).toBe(second);
    expect(gate.withdraw(second)).toBe(false);
    expect(gate.wait()).not.toBe(second);
  });

  test('followers keep it open and claim nothing', () => {
    const gate = new TraceGate();
    gate.follow();
    expect([gate.watched(), gate.followed(), gate.claim(() => true)]).toEqual([true, true, -1]);
    gate.unfollow();
    expect(gate.watched()).toBe(false);
  });
});
