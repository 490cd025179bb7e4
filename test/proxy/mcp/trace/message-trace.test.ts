import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TraceEvent } from '../../../../src/admin/protocol/trace-event.ts';
import type { RpcMessage } from '../../../../proxy/mcp/message/message.ts';
import type { CallSink, Target, TargetConnection, TargetFailure } from '../../../../proxy/mcp/targets/contract.ts';
import { MessageTrace, type Side } from '../../../../proxy/mcp/trace/message-trace.ts';
import { traced } from '../../../../proxy/mcp/trace/traced-target.ts';
import { Recorder } from '../../../../proxy/telemetry/recorder.ts';
import { sessionDigest } from '../../../../proxy/telemetry/session-digest.ts';
import { Heard, request, targetCall } from '../targets/stdio/world.ts';

let events: TraceEvent[];
let held: number;
let trace: Recorder;

beforeEach(() => {
  events = [];
  held = 0;
  const life = { hold: () => void (held += 1), release: () => void (held -= 1) };
  trace = new Recorder('r', (event) => void events.push(event), 0, ['mcp', 'one'], life);
});

const target = { name: 'one', transport: 'stdio' };
const side: Side = { target, limitBytes: 1000, version: '2025-11-25', session: () => 'secret-id' };
const call = request('tools/call', { name: 'echo', arguments: { message: 'hi' } }, 1);

const begin = (message: RpcMessage = call, more: Partial<Side> = {}): MessageTrace =>
  new MessageTrace(trace, { ...side, ...more }, { kind: 'request', message });

const ended = (): TraceEvent | undefined => events.find(({ eventStart }) => eventStart !== null);

describe('a message to a server', () => {
  test('has a start with the message, and an end with the answer', () => {
    const told = begin();
    told.heard({ kind: 'notification', method: 'notifications/progress', params: undefined });
    told.heard({ kind: 'result', id: 1, result: { content: [] } });
    expect(events[0]).toMatchObject({ scope: ['mcp', 'one'], eventStart: null });
    const { message } = events[0] ?? {};
    expect(message).toMatchObject({
      type: 'mcpCallStart',
      target: 'one',
      transport: 'stdio',
      method: 'tools/call',
      item: 'echo',
      protocolVersion: '2025-11-25',
      session: sessionDigest('secret-id'),
    });
    expect(
      JSON.parse(
        Buffer.from(message !== undefined && 'body' in message ? (message.body ?? '') : '', 'base64').toString(),
      ),
    ).toMatchObject({
      params: { arguments: { message: 'hi' } },
    });
    expect(ended()).toMatchObject({
      severity: 'success',
      message: { type: 'mcpCallResult', outcome: 'result', notifications: 1, requests: 0 },
    });
    expect(JSON.stringify(events)).not.toContain('secret-id');
  });

  test('keeps the trace open until it has ended, and ends once', () => {
    const told = begin();
    expect(held).toBe(1);
    told.heard({ kind: 'error', id: 1, error: { code: -32602, message: 'no' } });
    told.ended(null);
    told.ended({ kind: 'broken', message: 'late' });
    expect([held, events.length]).toEqual([0, 2]);
    expect(ended()).toMatchObject({ severity: 'error', message: { outcome: 'error', code: -32602, error: 'no' } });
  });

  test('is an error when the tool says so', () => {
    begin().heard({
      kind: 'result',
      id: 1,
      result: { isError: true, content: [null, 7, { type: 'image' }, { type: 'text', text: 'too much' }] },
    });
    expect(ended()).toMatchObject({
      severity: 'error',
      message: { isError: true, outcome: 'error', error: 'too much' },
    });
  });

  test.each<[TargetFailure, object, string]>([
    [{ kind: 'broken', message: 'gone' }, { outcome: 'failed', error: 'gone' }, 'error'],
    [{ kind: 'http', status: 503, response: null, message: 'm' }, { outcome: 'failed', status: 503 }, 'error'],
    [
      { kind: 'http', status: 400, response: null, message: 'm', error: { code: -32022, message: 'v' } },
      { outcome: 'failed', status: 400, code: -32022 },
      'error',
    ],
    [{ kind: 'unsupported', message: 'none' }, { outcome: 'unsupported' }, 'info'],
    [{ kind: 'rpc', error: { code: -1, message: 'r' } }, { outcome: 'error', code: -1, error: 'r' }, 'error'],
  ])('tells why nothing came: %j', (failure, message, severity) => {
    begin().ended(failure);
    expect(ended()).toMatchObject({ severity, message });
  });

  test('a probe that is refused is no problem, a handshake that is refused may be one', () => {
    for (const method of ['server/discover', 'initialize'])
      begin(request(method, {}, 1)).heard({ kind: 'error', id: 1, error: { code: -32601, message: 'no' } });
    expect(events.filter(({ eventStart }) => eventStart !== null).map(({ severity }) => severity)).toEqual([
      'info',
      'warn',
    ]);
  });

  test('is recorded up to the limit', () => {
    begin(request('x', { text: 'y'.repeat(100) }, 1), { limitBytes: 10 });
    const { body, truncated } = { body: '', truncated: 0, ...events[0]?.message };
    expect(Buffer.from(body, 'base64').byteLength).toBe(10);
    expect(truncated).toBeGreaterThan(100);
  });

  test.each<[string, unknown, string | null]>([
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['tasks/get', { taskId: 't' }, 't'],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' } }, 'p'],
    ['completion/complete', { ref: [] }, null],
    ['tools/call', { name: 7 }, null],
    ['ping', undefined, null],
  ])('%s of %j is about %j', (method, params, item) => {
    begin(request(method, params as never, 1));
    expect(events[0]?.message).toMatchObject({ item });
  });
});

describe('a traced target', () => {
  class Silent implements TargetConnection {
    readonly state = { session: 's' };
    sink: CallSink | null = null;
    cancelled = 0;
    request(_message: unknown, _call: unknown, sink: CallSink) {
      this.sink = sink;
      return { cancel: () => void (this.cancelled += 1), pause() {}, resume() {} };
    }
    post(): Promise<TargetFailure | null> {
      return Promise.reject(new Error('bug'));
    }
    listen = this.request.bind(this, null);
    close(): Promise<null> {
      return Promise.resolve(null);
    }
    leave(): void {}
  }

  const made: Silent[] = [];
  const plain: Target = {
    ...target,
    connect: () => {
      const connection = new Silent();
      made.push(connection);
      return connection;
    },
  };

  test('tells nothing when nobody watches', async () => {
    const connection = traced(plain, 1000).connect(null);
    connection.request(call, targetCall(), new Heard());
    await connection.close(null);
    expect(events).toEqual([]);
  });

  test('tells of calls that are given up, of streams and of ends', async () => {
    const connection = traced(plain, 1000).connect(null);
    const watched = { ...targetCall(), trace };
    connection.request(call, watched, new Heard()).cancel();
    connection.listen(watched, new Heard()).cancel();
    await connection.close(watched);
    await expect(
      connection.post({ kind: 'notification', method: 'notifications/initialized', params: undefined }, watched),
    ).rejects.toThrow('bug');
    expect(made.at(-1)?.cancelled).toBe(2);
    expect(
      events.flatMap(({ message }) =>
        message.type === 'mcpCallResult' ? [[message.kind, message.method, message.outcome]] : [],
      ),
    ).toEqual([
      ['request', 'tools/call', 'cancelled'],
      ['stream', null, 'cancelled'],
      ['end', null, 'accepted'],
      ['notification', 'notifications/initialized', 'failed'],
    ]);
    expect(held).toBe(0);
  });
});
