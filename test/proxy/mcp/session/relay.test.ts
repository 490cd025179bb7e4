import { MessageChannel, type MessagePort } from 'node:worker_threads';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import type { TraceEvent } from '../../../../src/admin/protocol/trace-event.ts';
import { Recorder } from '../../../../proxy/telemetry/recorder.ts';
import { Secret } from '../../../../src/shared/secret.ts';
import type { RpcRequest } from '../../../../proxy/mcp/message/message.ts';
import { parseExactly } from '../../../../proxy/mcp/message/exact-json.ts';
import type { OwnedSession } from '../../../../proxy/mcp/session/relay/owned-sessions.ts';
import { ThreadRelay } from '../../../../proxy/mcp/session/relay/thread-relay.ts';
import { SessionStore } from '../../../../proxy/mcp/session/store.ts';
import type { CallSink, TargetCall, TargetConnection } from '../../../../proxy/mcp/targets/contract.ts';
import { isJsonObject } from '../../../../src/shared/json.ts';
import { Heard, request, targetCall } from '../targets/stdio/world.ts';
import { BufferedBody } from '../../../../proxy/exchange/body.ts';
import { collect, type Collected } from '../../../../proxy/exchange/collect.ts';
import { ManualClock } from './manual-clock.ts';

interface Happened {
  readonly what: string;
  readonly message?: unknown;
  readonly call?: TargetCall | null;
}

/** A conversation that tells what it is asked, and answers when it is told to. */
class Scripted implements TargetConnection {
  readonly state = null;
  readonly sinks: CallSink[] = [];
  readonly happened: Happened[] = [];
  #waiting: (() => void)[] = [];

  request(message: RpcRequest, call: TargetCall, sink: CallSink) {
    this.sinks.push(sink);
    this.#note({ what: 'request', message, call });
    return this.#calling();
  }

  post(message: unknown, call: TargetCall) {
    this.#note({ what: 'post', message, call });
    return Promise.resolve({ kind: 'broken', message: 'no' } as const);
  }

  listen(call: TargetCall, sink: CallSink) {
    this.sinks.push(sink);
    this.#note({ what: 'listen', call });
    return this.#calling();
  }

  close(call: TargetCall | null) {
    this.#note({ what: 'close', call });
    return Promise.resolve(null);
  }

  leave() {
    this.#note({ what: 'leave' });
  }

  /** Waits until so many things have happened. */
  async after(count: number): Promise<Happened> {
    while (this.happened.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.happened[count - 1] ?? { what: '' };
  }

  #calling() {
    const note = (what: string) => () => this.#note({ what });
    return { cancel: note('cancel'), pause: note('pause'), resume: note('resume') };
  }

  #note(happened: Happened): void {
    this.happened.push(happened);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

class Session implements OwnedSession {
  readonly scripted = new Scripted();
  closed = false;
  connection(target: string): TargetConnection | null {
    return target === 'a' ? this.scripted : null;
  }
  close(): void {
    this.closed = true;
  }
  leave(): void {}
}

const PROCESS = '0123456789abcdef';
const LIFE = '00000001';
const at = { backend: '/mcp', session: 's', target: 'a' };

let ports: MessagePort[];
let met: ((port: MessagePort) => void)[];
let relays: ThreadRelay[];
let store: SessionStore<OwnedSession>;
let clock: ManualClock;
let session: Session;

beforeEach(() => {
  ports = [];
  met = [];
  clock = new ManualClock();
  relays = [0, 1].map(
    (thread) =>
      new ThreadRelay(
        { process: PROCESS, thread, life: LIFE },
        {
          count: 2,
          meet: (index) => {
            const { port1, port2 } = new MessageChannel();
            ports.push(port2);
            if (met[index] === undefined) port2.close();
            else met[index](port2);
            return port1;
          },
          onMet: (listener) => {
            met[thread] = listener;
          },
        },
      ),
  );
  store = new SessionStore<OwnedSession>({ clock, ttlMs: 60_000, max: 10 });
  session = new Session();
  store.keep('s', session);
  relays[0]?.offer('/mcp', store);
  relays[0]?.settled();
});

afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.close()));
  await store.close();
});

function remote(place = at, thread = 0): TargetConnection {
  const connection = relays[1]?.connect(thread, place);
  if (connection === undefined) throw new Error('no relay');
  return connection;
}

test('a request, its messages and its answer pass, with numbers that a double does not hold', async () => {
  const params = parseExactly('{"n":12345678901234567890}');
  const heard = new Heard();
  const call = targetCall('2025-11-25', { traceparent: '00-a-b-01' });
  call.exchange.attributes.jwt = { claims: { sub: 'me' }, rawToken: new Secret('token') };
  call.exchange.attributes.extproc = { k: 1 };
  call.exchange.attributes.apiKey = { key: new Secret('key'), place: 'x-key', metadata: { team: 'a' } };
  remote().request(
    { ...request('tools/call', undefined, 7), params: isJsonObject(params) ? params : undefined },
    call,
    heard,
  );
  const { message, call: came } = await session.scripted.after(1);
  expect(JSON.stringify(message)).toBe(
    '{"kind":"request","id":7,"method":"tools/call","params":{"n":12345678901234567890}}',
  );
  expect(came?.version).toBe('2025-11-25');
  expect(came?.headers.get('traceparent')).toBe('00-a-b-01');
  expect(came?.exchange.attributes.jwt?.rawToken.reveal()).toBe('token');
  expect(came?.exchange.attributes.jwt?.claims).toEqual({ sub: 'me' });
  expect(came?.exchange.attributes.extproc).toEqual({ k: 1 });
  expect(came?.exchange.attributes.apiKey).toMatchObject({ place: 'x-key', metadata: { team: 'a' } });
  expect(came?.exchange.attributes.apiKey?.key.reveal()).toBe('key');
  expect(came?.exchange.request.target).toBe('/mcp');
  const [sink] = session.scripted.sinks;
  sink?.onMessage({ kind: 'notification', method: 'notifications/progress', params: { progress: 1 } });
  sink?.onMessage({ kind: 'result', id: 7, result: {} });
  sink?.onEnd(null);
  expect(await heard.end).toBeNull();
  expect(heard.messages.map(({ kind }) => kind)).toEqual(['notification', 'result']);
});

test('clients that leave, stop reading and read again are felt by the owner', async () => {
  const heard = new Heard();
  const calling = remote().listen(targetCall(), heard);
  await session.scripted.after(1);
  calling.pause();
  calling.resume();
  calling.cancel();
  calling.cancel();
  calling.resume();
  await session.scripted.after(4);
  expect(session.scripted.happened.map(({ what }) => what)).toEqual(['listen', 'pause', 'resume', 'cancel']);
  session.scripted.sinks[0]?.onMessage({ kind: 'notification', method: 'x', params: undefined });
  await remote().post({ kind: 'notification', method: 'y', params: undefined }, targetCall());
  expect(heard.messages).toEqual([]);
});

test('a session that is used through another thread does not lie idle', async () => {
  const heard = new Heard();
  remote().request(request('slow'), targetCall(), heard);
  await session.scripted.after(1);
  clock.pass(200_000);
  expect(session.closed).toBe(false);
  session.scripted.sinks[0]?.onEnd(null);
  await heard.end;
  clock.pass(200_000);
  expect(session.closed).toBe(true);
});

test('what the owner answers to a notification comes back, and an end by the client ends all of the session', async () => {
  expect(await remote().post({ kind: 'notification', method: 'x', params: undefined }, targetCall())).toEqual({
    kind: 'broken',
    message: 'no',
  });
  expect(await remote().close(null)).toBeNull();
  expect(session.closed).toBe(false);
  expect(await remote().close(targetCall())).toBeNull();
  expect(session.scripted.happened.map(({ what }) => what)).toEqual(['post', 'close']);
  expect(session.closed).toBe(true);
  expect(store.size).toBe(0);
  expect(await remote().close(targetCall())).toBeNull();
});

test.each([
  ['session', { ...at, session: 'other' }],
  ['backend', { ...at, backend: 'other' }],
  ['target', { ...at, target: 'b' }],
])('an unknown %s is forgotten', async (_what, place) => {
  const [asked, listening] = [new Heard(), new Heard()];
  remote(place).request(request('x'), targetCall(), asked);
  remote(place).listen(targetCall(), listening);
  expect(await asked.end).toMatchObject({ kind: 'forgotten' });
  expect(await listening.end).toMatchObject({ kind: 'forgotten' });
  expect(
    await remote(place).post({ kind: 'notification', method: 'x', params: undefined }, targetCall()),
  ).toMatchObject({ kind: 'forgotten' });
});

test('when the owner ends, what is under way is forgotten, and another way is tried for what comes then', async () => {
  const heard = new Heard();
  const connection = remote();
  connection.request(request('slow'), targetCall(), heard);
  await session.scripted.after(1);
  ports[0]?.close();
  expect(await heard.end).toMatchObject({ kind: 'forgotten' });
  expect(session.scripted.happened.map(({ what }) => what)).toEqual(['request', 'cancel']);
  connection.request(request('again'), targetCall(), new Heard());
  await session.scripted.after(3);
});

test('a thread that is not there has forgotten everything', async () => {
  const heard = new Heard();
  remote(at, 9).request(request('x'), targetCall(), heard);
  expect(await heard.end).toMatchObject({ kind: 'forgotten' });
});

test('a session lives where it was begun; one of another process is taken up by one thread', () => {
  const placeOf = (process: string, thread: number, life = LIFE) =>
    relays.map((relay) => relay.placeOf('some id', { process, thread, life }));
  expect(placeOf(PROCESS, 0)).toEqual([null, 0]);
  // The thread was started again since.
  expect(placeOf(PROCESS, 0, '00000002')).toEqual([0, 0]);
  const [here, there] = placeOf('f'.repeat(16), 0);
  expect(here).toBe(there);
  expect([0, 1]).toContain(here);
});

test('an answer of HTTP comes whole, as it would without the way', async () => {
  const heard = new Heard();
  const call = targetCall('2025-11-25', { 'x-why': 'because' });
  remote().request(request('x'), call, heard);
  await session.scripted.after(1);
  const response = { status: 429, headers: call.headers, body: new BufferedBody(Buffer.from('slow down')) };
  session.scripted.sinks[0]?.onEnd({ kind: 'http', status: 429, response, message: 'bad' });
  const failure = await heard.end;
  if (failure?.kind !== 'http' || failure.response === null) throw new Error('no answer');
  expect(failure).toMatchObject({ status: 429, message: 'bad' });
  expect(failure.response.headers.get('x-why')).toBe('because');
  expect(textOf(await collect(failure.response.body, 100))).toBe('slow down');
});

test('an answer of HTTP whose body never ends is let go when its client leaves', async () => {
  const cancelled = Promise.withResolvers<void>();
  const body = { length: null, pipe() {}, pause() {}, resume() {}, cancel: () => cancelled.resolve() };
  const call = targetCall();
  const calling = remote().request(request('x'), call, new Heard());
  await session.scripted.after(1);
  session.scripted.sinks[0]?.onEnd({
    kind: 'http',
    status: 502,
    response: { status: 502, headers: call.headers, body },
    message: '',
  });
  calling.cancel();
  await cancelled.promise;
});

test('an answer of HTTP that is too long is told by its status', async () => {
  const heard = new Heard();
  const call = targetCall();
  remote().request(request('x'), call, heard);
  await session.scripted.after(1);
  const response = { status: 500, headers: call.headers, body: new BufferedBody(Buffer.alloc(2 ** 21)) };
  session.scripted.sinks[0]?.onEnd({ kind: 'http', status: 500, response, message: 'bad' });
  expect(await heard.end).toEqual({ kind: 'http', status: 500, response: null, message: 'bad' });
});

test('a stream that is open is told to be', async () => {
  const opened = Promise.withResolvers<void>();
  remote().listen(targetCall(), { onOpen: () => opened.resolve(), onMessage() {}, onEnd() {} });
  await session.scripted.after(1);
  session.scripted.sinks[0]?.onOpen?.();
  await opened.promise;
});

function textOf(collected: Collected): string {
  return collected.kind === 'whole' ? Buffer.from(collected.body.bytes).toString() : collected.kind;
}

test('what the owner does for a watched request is told to its trace, also when the client has left', async () => {
  const events: TraceEvent[] = [];
  let held = 0;
  let over: () => void = () => {};
  const ended = new Promise<void>((resolve) => (over = resolve));
  const life = {
    hold: () => void (held += 1),
    release: () => {
      held -= 1;
      if (held === 0) over();
    },
  };
  const trace = new Recorder('r', (event) => void events.push(event), performance.now(), ['mcp', 'a'], life);
  const calling = remote().request(request('tools/call'), { ...targetCall(), trace }, new Heard());
  const { call } = await session.scripted.after(1);
  const there = call?.trace;
  expect(call?.exchange.trace).toBe(there);
  there?.emit({ type: 'backendCallStart', target: 'host:1' });
  const release = there?.hold();
  calling.cancel();
  await session.scripted.after(2);
  there?.emit({ type: 'backendCallResult', status: 200, error: null });
  release?.();
  await ended;
  expect(events.map(({ requestId, scope, message }) => [requestId, scope, message.type])).toEqual([
    ['r', ['mcp', 'a'], 'policyEvent'],
    ['r', ['mcp', 'a'], 'backendCallStart'],
    ['r', ['mcp', 'a'], 'backendCallResult'],
  ]);
  for (const { eventEnd, startTime } of events) {
    expect(eventEnd).toBeLessThan(60_000_000);
    expect(startTime).toBeUndefined();
  }
});

test('a trace does not wait for a thread that has ended', async () => {
  let held = 0;
  const life = { hold: () => void (held += 1), release: () => void (held -= 1) };
  const trace = new Recorder('r', () => {}, performance.now(), [], life);
  const heard = new Heard();
  remote().request(request('tools/call'), { ...targetCall(), trace }, heard);
  await session.scripted.after(1);
  expect(held).toBe(1);
  await relays[1]?.close();
  expect(held).toBe(0);
});
