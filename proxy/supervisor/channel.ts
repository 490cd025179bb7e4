import type { Transferable } from 'node:worker_threads';

import { GwError, messageOf, type ExitCode } from '../../src/shared/errors.ts';

/** One end of a message channel: a worker, its `parentPort`, or a `MessagePort`. */
export interface ChannelPort {
  postMessage(message: unknown, transfer?: readonly Transferable[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** Requests of one direction: name → argument and result. */
export type Calls = Readonly<Record<string, { readonly argument: unknown; readonly result: unknown }>>;
/** One-way messages of one direction: name → content. */
export type Notes = Readonly<Record<string, unknown>>;

export type CallHandlers<C extends Calls> = {
  readonly [Name in keyof C]: (argument: C[Name]['argument']) => C[Name]['result'] | Promise<C[Name]['result']>;
};
export type NoteHandlers<N extends Notes> = { readonly [Name in keyof N]: (content: N[Name]) => void };

/** What both ends of a channel say to each other; the other end has the flipped type. */
export interface Protocol {
  readonly calls: Calls;
  readonly notes: Notes;
}

export interface ChannelHandlers<Incoming extends Protocol> {
  readonly calls: CallHandlers<Incoming['calls']>;
  readonly notes: NoteHandlers<Incoming['notes']>;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

interface WireError {
  readonly message: string;
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
  readonly exitCode?: ExitCode | undefined;
}

type Wire =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: WireError }
  | { readonly kind: 'note'; readonly name: string; readonly content: unknown };

const MAX_PENDING = 1024;

/** Calls with answers and one-way notes between two threads. Every call has a time limit; the number under way is bounded. */
export class Channel<Outgoing extends Protocol, Incoming extends Protocol> {
  readonly #port: ChannelPort;
  readonly #handlers: ChannelHandlers<Incoming>;
  readonly #pending = new Map<number, Pending>();
  #ids = 0;
  #closed: Error | null = null;

  constructor(port: ChannelPort, handlers: ChannelHandlers<Incoming>) {
    this.#port = port;
    this.#handlers = handlers;
    // `as`: both ends of the channel are this class, loaded from the same build.
    port.on('message', (message) => this.#receive(message as Wire));
  }

  call<Name extends keyof Outgoing['calls'] & string>(
    name: Name,
    argument: Outgoing['calls'][Name]['argument'],
    timeoutMs: number,
  ): Promise<Outgoing['calls'][Name]['result']> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    if (this.#pending.size >= MAX_PENDING) {
      return Promise.reject(new GwError(`too many calls between threads (${name})`, { code: 'GW_THREAD_BUSY' }));
    }
    return new Promise((resolve, reject) => {
      this.#ids += 1;
      const id = this.#ids;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new GwError(`a thread did not answer ${name} within ${timeoutMs} ms`, { code: 'GW_THREAD_TIMEOUT' }));
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#port.postMessage({ kind: 'call', id, name, argument } satisfies Wire);
    });
  }

  /** What is in `transfer` changes hands with the content. */
  note<Name extends keyof Outgoing['notes'] & string>(
    name: Name,
    content: Outgoing['notes'][Name],
    transfer: readonly Transferable[] = [],
  ): void {
    if (this.#closed === null) this.#port.postMessage({ kind: 'note', name, content } satisfies Wire, transfer);
  }

  /** The other side is gone: every call under way and every later one fails with this. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(reason);
    }
    this.#pending.clear();
  }

  #receive(message: Wire): void {
    if (this.#closed !== null) return;
    if (message.kind === 'note') this.#hear(message.name, message.content);
    else if (message.kind === 'call') void this.#answer(message.id, message.name, message.argument);
    else this.#settle(message);
  }

  #hear(name: keyof Incoming['notes'], content: unknown): void {
    // `as`: the sender is typed by the same protocol.
    this.#handlers.notes[name]?.(content as Incoming['notes'][typeof name]);
  }

  async #answer(id: number, name: string, argument: unknown): Promise<void> {
    try {
      const handler = this.#handlers.calls[name];
      if (handler === undefined) throw new Error(`no handler for ${name}`);
      const result = await handler(argument);
      this.#post({ kind: 'result', id, result });
    } catch (error) {
      this.#post({ kind: 'failure', id, error: toWire(error) });
    }
  }

  #post(message: Wire): void {
    if (this.#closed === null) this.#port.postMessage(message);
  }

  #settle(message: Extract<Wire, { kind: 'result' | 'failure' }>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    this.#pending.delete(message.id);
    clearTimeout(pending.timer);
    if (message.kind === 'result') pending.resolve(message.result);
    else pending.reject(fromWire(message.error));
  }
}

function toWire(error: unknown): WireError {
  if (error instanceof GwError) {
    return { message: error.message, code: error.code, hint: error.hint, exitCode: error.exitCode };
  }
  return { message: messageOf(error) };
}

function fromWire(error: WireError): Error {
  return new GwError(error.message, { ...error, code: error.code ?? 'GW_INTERNAL' });
}
