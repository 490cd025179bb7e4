import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { exitCodes, messageOf } from '../../src/shared/errors.ts';
import { pump } from '../terminal/event-pump.ts';
import { runScreen, suspendProcess, type Terminal } from '../terminal/run-screen.tsx';
import type { TerminalControl } from '../terminal/Screen.tsx';
import { createStore, type Store } from '../terminal/store.ts';
import { themeFor } from '../theme.ts';
import { copyDetail, effectDeps, exportTrace, type EffectDeps, type Outcome } from '../trace/effects.ts';
import { LiveView } from './App.tsx';
import type { LiveEffect } from './commands.ts';
import { stepLive, type LiveAction } from './model.ts';
import { initialLive, type LiveState } from './state.ts';

export interface LiveSessionOptions extends Terminal {
  readonly title: string;
  readonly addresses: readonly string[];
  /** Commands that work as printed. */
  readonly curls: readonly string[];
  /** A follow stream: every event carries its request's id. */
  readonly events: AsyncIterable<TraceEvent>;
  /** Sends a request again, given what its trace has recorded; its events arrive through `events`. */
  readonly resend?: ((recorded: readonly TraceEvent[]) => Promise<void>) | undefined;
  readonly ssh?: boolean | undefined;
  /** Milliseconds since the epoch, for the rates. */
  readonly now?: (() => number) | undefined;
}

/** One opened live screen: owns its stream, its clock and the terminal from `run` until it returns. */
export class LiveSession {
  readonly #options: LiveSessionOptions;
  readonly #store: Store<LiveState>;
  readonly #deps: EffectDeps;
  readonly #now: () => number;
  #control: TerminalControl | undefined;
  #exitCode: number = exitCodes.ok;

  constructor(options: LiveSessionOptions) {
    this.#options = options;
    const { stdout, resend } = options;
    this.#store = createStore(
      initialLive({ ...options, columns: stdout.columns, rows: stdout.rows, canResend: resend !== undefined }),
    );
    this.#deps = effectDeps(options);
    this.#now = options.now ?? Date.now;
  }

  /** Shows the screen until the user leaves; returns the exit code. */
  async run(): Promise<number> {
    const theme = themeFor(this.#options.env);
    const stop = pump(this.#options.events, {
      onBatch: (events) => this.#dispatch({ kind: 'events', events, nowMs: this.#now() }),
      onEnd: (error) => this.#dispatch({ kind: 'ended', ...(error !== undefined && { error: messageOf(error) }) }),
    });
    const clock = setInterval(() => this.#dispatch({ kind: 'tick', nowMs: this.#now() }), 1000);
    try {
      await runScreen({
        ...this.#options,
        store: this.#store,
        draw: (state) => <LiveView state={state} theme={theme} />,
        onKey: (key) => this.#dispatch({ kind: 'key', key }),
        onReady: (control) => (this.#control = control),
        onResize: (columns, rows) => this.#dispatch({ kind: 'resized', columns, rows }),
      });
      return this.#options.signal?.aborted === true ? exitCodes.interrupted : this.#exitCode;
    } finally {
      clearInterval(clock);
      stop();
    }
  }

  #dispatch(action: LiveAction): void {
    const { state, effect } = stepLive(this.#store.get(), action);
    this.#store.set(state);
    if (effect !== undefined) this.#run(effect);
  }

  #run(effect: LiveEffect): void {
    switch (effect.kind) {
      case 'leave':
        return this.#leave(exitCodes.ok);
      case 'interrupt':
        return this.#leave(exitCodes.interrupted);
      case 'suspend':
        return this.#background(this.#control === undefined ? Promise.resolve() : suspendProcess(this.#control));
      case 'resend':
        return this.#background(this.#resend(effect.id));
      case 'viewer':
        return this.#background(this.#share(effect.effect));
    }
  }

  #leave(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#control?.exit();
  }

  async #resend(id: string): Promise<void> {
    const { requests, forgotten, numberById } = this.#store.get();
    const request = requests[(numberById.get(id) ?? -1) - forgotten];
    if (request === undefined) return this.#say({ text: 'this request is no longer kept', tone: 'error' });
    await this.#options.resend?.(request.events.items.slice(0, request.events.length));
    this.#say({ text: 'request sent again', tone: 'success' });
  }

  async #share(effect: Extract<LiveEffect, { kind: 'viewer' }>['effect']): Promise<void> {
    const trace = this.#store.get().viewer?.state;
    if (trace === undefined) return;
    this.#say(
      effect.kind === 'copy' ? copyDetail(trace, this.#deps) : await exportTrace(trace, effect.format, this.#deps),
    );
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => this.#say({ text: messageOf(error), tone: 'error' }));
  }

  #say(outcome: Outcome): void {
    this.#dispatch({ kind: 'status', ...outcome });
  }
}
