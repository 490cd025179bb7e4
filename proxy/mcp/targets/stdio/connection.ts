import type { JsonObject } from '../../../../src/shared/json.ts';
import { messageOf, parseMessage } from '../../message/parse.ts';
import type { RpcAnswer, RpcMessage, RpcNotification, RpcRequest } from '../../message/message.ts';
import { parseExactly } from '../../message/exact-json.ts';
import { rpcCodes } from '../../message/codes.ts';
import { withTraceContext } from '../../message/trace-context.ts';
import { eraOf } from '../../message/versions.ts';
import { writeMessage } from '../../message/write.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import { Audience } from './audience.ts';
import { Backoff } from './backoff.ts';
import type { Outlet } from './outlet.ts';
import { type Program, type ProgramEvents, unhurried } from './program.ts';
import type { ProgramLog } from './program-log.ts';
import type { Clock } from '../../../exchange/wait.ts';

/** A program that lived this long may be started again at once. */
const GOOD_RUN_MS = 10_000;
const BRACKET = 0x5b;

/** Starts the program of a target; in words why it cannot be. */
export type StartProgram = (events: ProgramEvents) => Program | string;

/** Who is told what becomes of the programs of a target. */
export interface ProgramWatch {
  programBegan(): void;
  programEnded(): void;
  /** One runs that nobody has taken yet, or does no more; it is not among those that have begun. */
  spareBegan(): void;
  spareEnded(): void;
  /** One takes the place of another that has ended. */
  programRestarted(): void;
  /** None is started for so many milliseconds, as they end before they answer anything; 0 when they answer. */
  programsWait(ms: number): void;
}

export interface StdioConnectionOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: ProgramLog;
  readonly start: StartProgram;
  /** Of all conversations with the target: programs that end before they have answered anything. */
  readonly stillborn: Backoff;
  /** A program has answered for the first time. */
  readonly onAnswered?: (() => void) | undefined;
  readonly watch?: ProgramWatch | undefined;
}

/**
 * A conversation with a program of its own, started with the first request. When it dies, what is under way fails; the next
 * request that needs no session starts another one, others are told that the session is gone.
 */
export class StdioConnection implements TargetConnection {
  readonly state = null;
  readonly #options: StdioConnectionOptions;
  readonly #audience = new Audience(() => this.#flow());
  readonly #short: Backoff;
  #program: Program | null = null;
  #startedAt = 0;
  #lastUsed = 0;
  #answered = false;
  /** A program that knew the session has died. */
  #lost = false;
  #closed = false;

  constructor(options: StdioConnectionOptions) {
    this.#options = options;
    // Whoever was served well until now does not wait for the program to be started again.
    this.#short = new Backoff(options.clock, 1);
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    const program = this.#running(message.method, call);
    if ('kind' in program) return failed(sink, program);
    const { id, outlet } = this.#audience.ask(message, sink);
    const sent = { ...message, id, params: withTraceContext(message.params, call.headers) };
    if (!program.write(lineOf(sent))) {
      this.#audience.withdraw(id);
      return failed(sink, unread);
    }
    this.#flow();
    return calling(outlet, () => this.#cancel(id, message.method));
  }

  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    return Promise.resolve(this.#post(message, call));
  }

  listen(_call: TargetCall, sink: CallSink): Calling {
    if (this.#closed) return failed(sink, over);
    if (this.#lost) return failed(sink, forgotten);
    sink.onOpen?.();
    const outlet = this.#audience.listen(sink);
    return calling(outlet, () => this.#audience.leave(outlet));
  }

  leave(): void {
    void this.close();
  }

  /** The program is asked to end; nobody waits until it has. */
  close(): Promise<null> {
    this.#closed = true;
    this.#audience.end(over);
    void this.#program?.stop(unhurried);
    this.#program = null;
    return Promise.resolve(null);
  }

  #post(message: RpcNotification | RpcAnswer, call: TargetCall): TargetFailure | null {
    if (this.#program === null) return this.#closed ? over : forgotten;
    let sent: RpcMessage = message;
    if (message.kind === 'notification') {
      const params = message.method === 'notifications/cancelled' ? this.#cancelled(message.params) : message.params;
      // What it would cancel has ended.
      if (params === null) return null;
      sent = { ...message, params: withTraceContext(params, call.headers) };
    }
    return this.#program.write(lineOf(sent)) ? null : unread;
  }

  /** The id of the request that a client cancels, as the program knows it; null when there is no such request. */
  #cancelled(params: JsonObject | undefined): JsonObject | null {
    const id = this.#audience.idOf(params?.['requestId']);
    return id === null ? null : { ...params, requestId: id };
  }

  #cancel(id: number, method: string): void {
    if (!this.#audience.withdraw(id) || method === 'initialize') return;
    const params = { requestId: id, reason: 'the client has gone' };
    this.#program?.write(lineOf({ kind: 'notification', method: 'notifications/cancelled', params }));
  }

  #running(method: string, call: TargetCall): Program | TargetFailure {
    if (this.#closed) return over;
    this.#lastUsed = this.#options.clock.now();
    if (this.#program !== null) return this.#program;
    if (this.#lost && needsSession(method, call)) return forgotten;
    const { name, stillborn } = this.#options;
    const longer = stillborn.leftMs > this.#short.leftMs ? stillborn : this.#short;
    return longer.leftMs > 0 ? waiting(name, longer) : this.#start();
  }

  #start(): Program | TargetFailure {
    // Events of one that was given up are nobody's.
    const own = (): boolean => this.#program === program;
    const program = this.#options.start({
      onLine: (line) => own() && this.#hear(line),
      onEnd: (reason, fault) => own() && this.#died(reason, fault),
      idleSince: () => (this.#audience.empty ? this.#lastUsed : null),
    });
    if (typeof program === 'string') return broken(program);
    this.#program = program;
    this.#startedAt = this.#options.clock.now();
    this.#answered = false;
    if (this.#lost) this.#options.watch?.programRestarted();
    this.#lost = false;
    return program;
  }

  #died(reason: string, fault: boolean): void {
    const { name, clock, stillborn, log, watch } = this.#options;
    if (fault) log.failed(reason);
    else log.note(reason);
    this.#program = null;
    this.#lost = true;
    if (fault && !this.#answered) {
      stillborn.failed(reason);
      watch?.programsWait(stillborn.leftMs);
    }
    if (fault && clock.now() - this.#startedAt < GOOD_RUN_MS) this.#short.failed(reason);
    else this.#short.succeeded();
    this.#audience.end(broken(`${name}: ${reason}`));
  }

  #hear(line: Buffer): void {
    // Protocol version 2025-03-26 has batches.
    const parsed = line[0] === BRACKET ? batchOf(line) : [parseMessage(line.toString('utf8'))];
    for (const each of parsed) {
      if (each.kind === 'message') this.#heard(each.message, Math.ceil(line.length / parsed.length));
      else this.#options.log.garbage(line, each.error.message);
    }
    if (this.#audience.full) this.#program?.pause();
  }

  #heard(message: RpcMessage, bytes: number): void {
    if (!this.#answered && (message.kind === 'result' || message.kind === 'error')) {
      this.#answered = true;
      this.#options.stillborn.succeeded();
      this.#options.watch?.programsWait(0);
      this.#options.onAnswered?.();
    }
    if (this.#audience.hear(message, bytes)) return;
    this.#options.log.note('nobody waits for a message of a program', { kind: message.kind });
    if (message.kind === 'request') this.#nobody(message);
  }

  #nobody({ id, method }: RpcRequest): void {
    const answer: RpcAnswer =
      method === 'ping'
        ? { kind: 'result', id, result: {} }
        : { kind: 'error', id, error: { code: rpcCodes.internal, message: 'no client listens' } };
    this.#program?.write(lineOf(answer));
  }

  #flow(): void {
    if (this.#audience.full) this.#program?.pause();
    else this.#program?.resume();
  }
}

const forgotten: TargetFailure = { kind: 'forgotten', message: 'the program that had the session has ended' };
const over: TargetFailure = { kind: 'broken', message: 'the conversation with the program is over' };
const unread: TargetFailure = { kind: 'broken', message: 'the program does not read what it is asked' };

function broken(message: string): TargetFailure {
  return { kind: 'broken', message };
}

function waiting(name: string, { reason, leftMs }: Backoff): TargetFailure {
  return broken(`${name}: ${reason}; it is started again in ${Math.ceil(leftMs)} ms at the earliest`);
}

function needsSession(method: string, { version }: TargetCall): boolean {
  return method !== 'initialize' && version !== null && eraOf(version) === 'legacy';
}

function lineOf(message: RpcMessage): string {
  return `${writeMessage(message).replaceAll(LINE_ENDS, escaped)}\n`;
}

/** Line ends of Unicode can only stand in strings, and readers of lines know some of them (the one of Node.js does). */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function batchOf(line: Buffer): ReturnType<typeof messageOf>[] {
  try {
    const value = parseExactly(line.toString('utf8'));
    if (Array.isArray(value) && value.length > 0) return value.map((each) => messageOf(each));
  } catch {
    // Told below, as any other line that is no message.
  }
  return [
    {
      kind: 'invalid',
      error: { code: rpcCodes.parseError, message: 'not a batch of messages' },
      id: null,
      method: null,
    },
  ];
}

function calling(outlet: Outlet, cancel: () => void): Calling {
  return { cancel, pause: () => outlet.pause(), resume: () => outlet.resume() };
}

/** Told a moment later, as any other failure. */
function failed(sink: CallSink, failure: TargetFailure): Calling {
  let wanted = true;
  queueMicrotask(() => wanted && sink.onEnd(failure));
  return {
    cancel: () => {
      wanted = false;
    },
    pause() {},
    resume() {},
  };
}
