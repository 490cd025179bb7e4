import type { Severity, TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import type { EvalContext } from '../expression/contract.ts';

/** Takes finished events to whoever watches; must not block. */
export type TraceSink = (event: TraceEvent) => void;

/** Who keeps a trace open: it ends when nobody holds it any more. */
export interface TraceLife {
  hold(): void;
  release(): void;
  /** What it will be decided by whether anybody sees it, where that is not known before the request is over. */
  about?(context: EvalContext): void;
}

/** A place in a trace, which another thread can be told. */
export interface TracePlace {
  readonly requestId: string;
  /** Time zero on the clock that all threads of the process have in common. */
  readonly zeroMs: number;
  readonly scope: readonly string[];
}

const endless: TraceLife = { hold() {}, release() {} };

/** Records the events of one traced request; made only when somebody watches. */
export class Recorder {
  readonly requestId: string;
  readonly #sink: TraceSink;
  readonly #originMs: number;
  readonly #scope: readonly string[];
  readonly #life: TraceLife;
  #first = true;

  constructor(
    requestId: string,
    sink: TraceSink,
    originMs: number = performance.now(),
    scope: readonly string[] = [],
    life: TraceLife = endless,
  ) {
    this.requestId = requestId;
    this.#life = life;
    this.#sink = sink;
    this.#originMs = originMs;
    this.#scope = scope;
    this.#first = scope.length === 0;
  }

  /** Microseconds since the request began; what `eventStart` of a timed event takes. */
  now(): number {
    return Math.max(0, Math.round((performance.now() - this.#originMs) * 1000));
  }

  emit(message: TraceMessage, severity: Severity = 'info', eventStart: number | null = null): void {
    const first = this.#first;
    this.#first = false;
    this.#sink({
      eventStart,
      eventEnd: this.now(),
      severity,
      ...(this.#scope.length > 0 ? { scope: this.#scope } : {}),
      requestId: this.requestId,
      ...(first ? { startTime: wallClock(this.#originMs) } : {}),
      message,
    });
  }

  /** The request that this is the trace of. */
  about(context: EvalContext): void {
    this.#life.about?.(context);
  }

  /** The final outcome of one policy. */
  applied(kind: string, details: string, severity: Severity = 'info', eventStart: number | null = null): void {
    this.emit({ type: 'policy', kind, result: { type: 'apply', details, snapshot: null } }, severity, eventStart);
  }

  skipped(kind: string, reason: string, severity: Severity = 'info'): void {
    this.emit({ type: 'policy', kind, result: { type: 'skip', reason } }, severity);
  }

  /** A recorder for a call that the gateway makes on the request's behalf. */
  scoped(name: string): Recorder {
    return new Recorder(this.requestId, this.#sink, this.#originMs, [...this.#scope, name], this.#life);
  }

  /** Where somebody in another thread goes on with the trace. */
  get place(): TracePlace {
    return { requestId: this.requestId, zeroMs: processMs() - performance.now() + this.#originMs, scope: this.#scope };
  }

  /** Goes on with a trace of another thread; `sink` takes the events there. */
  static at({ requestId, zeroMs, scope }: TracePlace, sink: TraceSink, life: TraceLife): Recorder {
    const recorder = new Recorder(requestId, sink, zeroMs - processMs() + performance.now(), scope, life);
    recorder.#first = false;
    return recorder;
  }

  /** An event that was recorded in another thread. */
  pass(event: TraceEvent): void {
    this.#sink(event);
  }

  /**
   * Keeps the trace open beyond `requestFinished`, for work that reports late (a mirror, a body still on its way).
   * Call what is returned, once, when that work is over.
   */
  hold(): () => void {
    this.#life.hold();
    let held = true;
    return () => {
      if (held) this.#life.release();
      held = false;
    };
  }
}

/** `performance.now()` counts from another moment in each thread. */
function processMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function wallClock(originMs: number): string {
  const epochMs = performance.timeOrigin + originMs;
  const micros = Math.floor((epochMs % 1) * 1000);
  return `${new Date(epochMs).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}
