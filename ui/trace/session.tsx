import { exitCodes, messageOf } from '../../src/shared/errors.ts';
import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { pump } from '../terminal/event-pump.ts';
import { runScreen, suspendProcess, type Terminal } from '../terminal/run-screen.tsx';
import type { TerminalControl } from '../terminal/Screen.tsx';
import { createStore, type Store } from '../terminal/store.ts';
import { themeFor } from '../theme.ts';
import { TraceView } from './App.tsx';
import type { Effect } from './commands.ts';
import { copyDetail, effectDeps, exportTrace, type EffectDeps, type Outcome } from './effects.ts';
import { step, type Action } from './model.ts';
import { initialState, type TraceState } from './state.ts';

/** Sends the request again. Its events come with the others, or in a stream of their own when one is returned. */
export type Resend = () => Promise<AsyncIterable<TraceEvent> | void>;

export interface SessionOptions extends Terminal {
  readonly title: string;
  readonly events: AsyncIterable<TraceEvent>;
  readonly resend?: Resend | undefined;
  readonly ssh?: boolean | undefined;
}

/** One opened viewer: owns its streams and the terminal from `run` until it returns. */
export class TraceSession {
  readonly #options: SessionOptions;
  readonly #store: Store<TraceState>;
  readonly #deps: EffectDeps;
  readonly #stops: (() => void)[] = [];
  #sources = 0;
  #control: TerminalControl | undefined;
  #exitCode: number = exitCodes.ok;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { title, stdout } = options;
    this.#store = createStore(
      initialState({ title, columns: stdout.columns, rows: stdout.rows, canResend: options.resend !== undefined }),
    );
    this.#deps = effectDeps(options);
  }

  /** Shows the viewer until the user leaves; returns the exit code. */
  async run(): Promise<number> {
    const theme = themeFor(this.#options.env);
    this.#read(this.#options.events);
    try {
      await runScreen({
        ...this.#options,
        store: this.#store,
        draw: (state) => <TraceView state={state} theme={theme} />,
        onKey: (key) => this.#dispatch({ kind: 'key', key }),
        onReady: (control) => (this.#control = control),
        onResize: (columns, rows) => this.#dispatch({ kind: 'resized', columns, rows }),
      });
      return this.#options.signal?.aborted === true ? exitCodes.interrupted : this.#exitCode;
    } finally {
      for (const stop of this.#stops) stop();
    }
  }

  #read(events: AsyncIterable<TraceEvent>): void {
    const source = this.#sources;
    this.#sources += 1;
    this.#stops.push(
      pump(events, {
        onBatch: (batch) => this.#dispatch({ kind: 'events', events: batch, source }),
        onEnd: (error) =>
          this.#dispatch({ kind: 'ended', source, ...(error !== undefined && { error: messageOf(error) }) }),
      }),
    );
  }

  #dispatch(action: Action): void {
    const { state, effect } = step(this.#store.get(), action);
    this.#store.set(state);
    if (effect !== undefined) this.#run(effect);
  }

  #run(effect: Effect): void {
    switch (effect.kind) {
      case 'leave':
        return this.#leave(effect.exitCode);
      case 'interrupt':
        return this.#leave(exitCodes.interrupted);
      case 'suspend':
        return this.#background(this.#control === undefined ? Promise.resolve() : suspendProcess(this.#control));
      case 'copy':
        return this.#say(copyDetail(this.#store.get(), this.#deps));
      case 'export':
        return this.#background(
          exportTrace(this.#store.get(), effect.format, this.#deps).then((outcome) => this.#say(outcome)),
        );
      case 'resend':
        return this.#background(this.#resend());
    }
  }

  #leave(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#control?.exit();
  }

  async #resend(): Promise<void> {
    const events = await this.#options.resend?.();
    if (events !== undefined) {
      this.#dispatch({ kind: 'opened' });
      this.#read(events);
    }
    this.#say({ text: 'request sent again', tone: 'success' });
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => this.#say({ text: messageOf(error), tone: 'error' }));
  }

  #say(outcome: Outcome): void {
    this.#dispatch({ kind: 'status', ...outcome });
  }
}
