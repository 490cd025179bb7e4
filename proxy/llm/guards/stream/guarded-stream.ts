import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { assertNever } from '../../../../src/shared/assert-never.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { ChatFormat } from '../../formats.ts';
import type { StreamOutput } from '../../stream/event-body.ts';
import { encodeEvent } from '../../stream/sse-encoder.ts';
import type { EventWriter } from '../../translations/contract.ts';
import type { Accounting } from '../accounting.ts';
import { type Action, Blocked, type Check, type GuardKind, type Stage } from '../contract.ts';
import { rejectedBy } from '../rejection.ts';
import { CompletionsEvents } from './completions.ts';
import type { EventTexts, Piece, Reading, Scopes, StreamEvent } from './contract.ts';
import { GeminiEvents } from './gemini.ts';
import { MessagesEvents } from './messages.ts';
import { ResponsesEvents } from './responses.ts';

export interface GuardedStreamOptions {
  readonly checks: readonly Check[];
  readonly exchange: Exchange;
  readonly type: ChatFormat;
  /** Of the upstream's response. */
  readonly headers: Headers;
  readonly accounting: Accounting;
  /** Events are those of a realtime session, and leave as bare JSON. */
  readonly realtime?: boolean;
}

/** What waits for its turn: events leave in the order in which they came. */
type Step =
  | { readonly kind: 'event'; readonly event: StreamEvent; readonly raw: string | null }
  | { readonly kind: 'done' }
  | { readonly kind: 'finish' };

/**
 * Looks at the texts of a stream in the client's format before they leave. Texts pass the guards one after the other; what
 * one of them still has to hold back stays here, and everything else leaves at once. A block ends the stream.
 */
export class GuardedStream implements EventWriter {
  readonly #options: GuardedStreamOptions;
  readonly #texts: EventTexts;
  readonly #channels = new Map<string, readonly Stage[]>();
  readonly #abort = new AbortController();
  #output: StreamOutput | null = null;
  #waiting: Step[] = [];
  #running: Promise<void> | null = null;
  #closed = false;
  #told: Hearer | null = null;
  #rejectedBy: GuardKind | null = null;

  constructor(options: GuardedStreamOptions) {
    this.#options = options;
    const scopes = new Set(options.checks.flatMap((check) => [...check.scopes]));
    this.#texts = options.realtime === true ? new ResponsesEvents(scopes, true) : eventTexts(options.type, scopes);
  }

  /** Where events leave; called once, before the first. */
  to(output: StreamOutput): this {
    this.#output = output;
    return this;
  }

  /** Hears what leaves. */
  tell(hearer: Hearer): void {
    this.#told = hearer;
  }

  event(name: string | null, data: JsonObject, raw: string | null = null): void {
    this.#take({ kind: 'event', event: { name, data }, raw });
  }

  done(): void {
    this.#take({ kind: 'finish' });
    this.#take({ kind: 'done' });
  }

  /** No text follows: what was held back leaves. */
  finish(): void {
    this.#take({ kind: 'finish' });
  }

  /** Everything that was written has left; at once unless somebody is being asked. */
  settled(): Promise<void> | undefined {
    return this.#running ?? undefined;
  }

  /** The stream is over, whoever ended it. */
  over(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#abort.abort();
  }

  #take(step: Step): void {
    if (this.#closed) return;
    if (this.#running !== null) {
      this.#waiting.push(step);
      return;
    }
    const running = this.#perform(step);
    if (running === undefined) return;
    this.#output?.hold();
    this.#running = this.#goOn(running);
  }

  /** After a wait: what came meanwhile, in its order. */
  async #goOn(first: Promise<void>): Promise<void> {
    await first;
    for (let step = this.#waiting.shift(); step !== undefined; step = this.#waiting.shift()) {
      const running = this.#perform(step);
      if (running !== undefined) await running;
    }
    this.#running = null;
    if (!this.#closed) this.#output?.release();
  }

  /** A promise only when somebody is asked. */
  #perform(step: Step): Promise<void> | undefined {
    if (this.#closed) return undefined;
    switch (step.kind) {
      case 'done':
        this.#output?.write(encodeEvent(null, '[DONE]'));
        return undefined;
      case 'finish': {
        const reading = this.#texts.finish();
        return reading === null ? undefined : this.#pass(reading, null, null);
      }
      case 'event': {
        const reading = this.#texts.read(step.event);
        if (reading !== null) return this.#pass(reading, step.event, step.raw);
        this.#write(step.event, step.raw);
        return undefined;
      }
      default:
        return assertNever(step);
    }
  }

  /** Sends the pieces of an event past the guards, and then what it has become. */
  #pass(reading: Reading, event: StreamEvent | null, raw: string | null): Promise<void> | undefined {
    const released: string[] = [];
    try {
      for (let i = 0; i < reading.pieces.length; i++) {
        const piece = reading.pieces[i];
        if (piece === undefined) break;
        const may = this.#push(piece);
        if (typeof may !== 'string') return this.#passOn({ reading, event, raw, released }, may);
        released.push(may);
      }
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
    this.#leave({ reading, event, raw, released });
    return undefined;
  }

  async #passOn(passing: Passing, first: Promise<string>): Promise<void> {
    const { reading, released } = passing;
    try {
      released.push(await first);
      for (const piece of reading.pieces.slice(released.length)) released.push(await this.#push(piece));
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#leave(passing);
  }

  #leave({ reading, event, raw, released }: Passing): void {
    if (this.#closed) return;
    // What nobody changed leaves in the words in which it came.
    for (const each of reading.write(released)) this.#write(each, each === event ? raw : null);
  }

  #write(event: StreamEvent, raw: string | null): void {
    const sealed = this.#texts.seal?.(event) ?? event;
    this.#told?.event(sealed.name, sealed.data);
    const data = raw !== null && sealed === event ? raw : JSON.stringify(sealed.data);
    this.#output?.write(this.#options.realtime === true ? data : encodeEvent(sealed.name, data));
  }

  /** Past every guard in turn. */
  #push({ channel, scope, text, final }: Piece): string | Promise<string> {
    const stages = this.#stages(channel, scope);
    if (final) this.#channels.delete(channel);
    let passed = text;
    for (let i = 0; i < stages.length; i++) {
      const next = stages[i]?.push(passed, final);
      if (next === undefined) break;
      if (typeof next !== 'string') return pushOn(next, stages.slice(i + 1), final);
      passed = next;
    }
    return passed;
  }

  #stages(channel: string, scope: ContentScope): readonly Stage[] {
    const known = this.#channels.get(channel);
    if (known !== undefined) return known;
    const { checks, exchange, headers, accounting } = this.#options;
    const stages = checks
      .filter(({ scopes }) => scopes.has(scope))
      .map((check) => {
        const decided = { exchange, phase: 'response', kind: check.kind, audit: check.audit, startedAt: null } as const;
        const report = (action: Action, what: string): void => {
          if (action === 'Reject' && !check.audit) this.#rejectedBy = check.kind;
          accounting.record(action, what, decided);
        };
        return check.stage({ exchange, headers, signal: this.#abort.signal, report }, scope);
      });
    this.#channels.set(channel, stages);
    return stages;
  }

  #failed(error: unknown): void {
    if (this.#closed) return;
    // A defect must not let a text pass that nobody has judged.
    const { message, status } =
      error instanceof Blocked ? error : { message: 'Content blocked by guardrail policy', status: 500 };
    const { exchange, realtime } = this.#options;
    const { llm } = exchange.attributes;
    // A session goes on.
    if (llm !== null && realtime !== true) llm.blocked = rejectedBy('response', this.#rejectedBy);
    const output = this.#output;
    this.#write(this.#texts.blocked(message, status), null);
    this.over();
    output?.stop(new Error('a guard blocked the stream'));
  }
}

interface Hearer {
  event(name: string | null, data: JsonObject): void;
}

interface Passing {
  readonly reading: Reading;
  readonly event: StreamEvent | null;
  readonly raw: string | null;
  readonly released: string[];
}

async function pushOn(waiting: Promise<string>, stages: readonly Stage[], final: boolean): Promise<string> {
  let passed = await waiting;
  for (const stage of stages) passed = await stage.push(passed, final);
  return passed;
}

/** Where texts stand in events, by the format that the client speaks. One line per format. */
function eventTexts(type: ChatFormat, scopes: Scopes): EventTexts {
  switch (type) {
    case 'completions':
      return new CompletionsEvents(scopes);
    case 'messages':
      return new MessagesEvents(scopes);
    case 'responses':
      return new ResponsesEvents(scopes);
    case 'generateContent':
      return new GeminiEvents(scopes);
    default:
      return assertNever(type);
  }
}
