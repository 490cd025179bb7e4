import type { JsonObject } from '../../exchange/attributes.ts';
import type { LlmFacts } from '../../exchange/llm-facts.ts';
import type { WireFormat } from '../formats/contract.ts';
import type { GuardedStream } from '../guards/stream/guarded-stream.ts';
import { parseObject } from '../json.ts';
import type { EventWriter, StreamTranslator } from '../translations/contract.ts';
import type { GatheredContents } from '../contents/gathered.ts';
import { overwrite } from '../usage/told.ts';
import type { StreamFollower, StreamOutput } from './event-body.ts';
import { encodeEvent } from './sse-encoder.ts';

export interface LlmStreamOptions {
  readonly facts: LlmFacts;
  /** What the service speaks. */
  readonly upstream: WireFormat;
  /** Puts together what is said, where something reads it. */
  readonly gathered: GatheredContents | null;
  /** What the client speaks. */
  readonly client: WireFormat;
  /** Null: both speak the same, and the client gets the service's own bytes. */
  readonly translator: StreamTranslator | null;
  /** Looks at what leaves; without one everything passes. */
  readonly guard?: GuardedStream | null | undefined;
}

const DONE = '[DONE]';
const INCOMPLETE = 'the upstream stream ended before the answer was complete';
/** How many events from the end the one may stand that ends the answer: counts and prices come behind it. */
const LAST = 3;

/** Follows a stream: counts what it tells, and writes what it becomes. */
export class LlmStream {
  readonly #options: LlmStreamOptions;
  #first = true;
  #textCame = false;
  #done = false;
  /** The events that came last, in a ring: whether they end the answer is looked at when the stream is over. */
  readonly #names: (string | null)[] = [null, null, null];
  readonly #texts: string[] = ['', '', ''];
  #count = 0;

  constructor(options: LlmStreamOptions) {
    this.#options = options;
    options.facts.untoldBytes = 0;
    if (options.gathered !== null) options.facts.said = options.gathered;
  }

  follow(output: StreamOutput): StreamFollower {
    const { guard, client } = this.#options;
    guard?.tell({ event: (name, data) => this.#leaves(client, name, data) });
    const writer = guard?.to(output) ?? writerTo(output);
    return {
      event: (name, data) => this.#event(name, data, writer),
      fault: (type, data) => {
        throw new Error(`${type}: ${messageIn(data)}`);
      },
      end: (error) => this.#end(error, { writer, output }),
    };
  }

  /** Nothing more comes. */
  over(_ending: 'complete' | 'cut' | 'cancelled', _error: Error | null): void {
    this.#options.guard?.over();
  }

  #event(name: string | null, text: string, writer: EventWriter): void {
    if (text === DONE) {
      this.#done = true;
      if (this.#options.translator === null) this.#options.guard?.done();
      return;
    }
    const slot = this.#count++ % LAST;
    this.#names[slot] = name;
    this.#texts[slot] = text;
    const { translator, guard, facts, upstream } = this.#options;
    facts.untoldBytes = (facts.untoldBytes ?? 0) + upstream.said(text);
    if (translator === null && !guard && !this.#worthReading(text)) return;
    const data = parseObject(text);
    // What is no JSON is of no use to anybody but a client that gets the bytes as they are.
    if (data === undefined) return;
    this.#tell(name, data);
    if (translator === null) guard?.event(name, data, text);
    else translator.event(name, data, writer);
  }

  /** Of a stream that nobody translates, only what tells something is read. */
  #worthReading(text: string): boolean {
    const { upstream, gathered } = this.#options;
    return this.#first || !this.#textCame || gathered !== null || upstream.mayTell(text);
  }

  #tell(name: string | null, data: JsonObject): void {
    const { upstream, facts, guard } = this.#options;
    this.#first = false;
    const told = upstream.told(name, data);
    if (told !== null) overwrite(facts, told);
    // A guard tells what it lets leave.
    if (!guard) this.#leaves(upstream, name, data);
  }

  /** What somebody reads leaves with the next bytes. */
  #leaves(format: WireFormat, name: string | null, data: JsonObject): void {
    const { facts, gathered } = this.#options;
    gathered?.event(name, data);
    if (this.#textCame || (format.delta(name, data) ?? '') === '') return;
    this.#textCame = true;
    facts.pace.textCame();
  }

  #end(error: Error | null, { writer, output }: { writer: EventWriter; output: StreamOutput }): void | Promise<void> {
    const { translator, guard } = this.#options;
    // Whoever has said everything may hang up as they like; a translator tells by itself what a regular end has left out.
    if (this.#complete || (error === null && translator !== null)) {
      if (!this.#complete) this.#options.facts.cut = new Error(INCOMPLETE);
      translator?.end(this.#done, writer);
      guard?.finish();
      return guard?.settled();
    }
    guard?.finish();
    // Of the service's own bytes, the last may be half an event.
    if (translator === null && !guard) output.write('\n\n');
    this.#options.facts.cut = error ?? new Error(INCOMPLETE);
    const message = error === null ? INCOMPLETE : `upstream stream was cut: ${error.message}`;
    const { name, data } = this.#options.client.streamError(message);
    writer.event(name, data);
    return guard?.settled();
  }

  /** Whether the answer is told to its end. */
  get #complete(): boolean {
    const { translator, upstream } = this.#options;
    if (this.#done || translator?.complete === true) return true;
    return this.#texts.some((text, slot) => {
      const data = text === '' ? undefined : parseObject(text);
      return data !== undefined && upstream.ends(this.#names[slot] ?? null, data);
    });
  }
}

function writerTo(output: StreamOutput): EventWriter {
  return {
    // JSON has no line feeds of its own: there is one line, always.
    event: (name, data) => {
      const line = JSON.stringify(data);
      output.write(name === null ? `data: ${line}\n\n` : `event: ${name}\ndata: ${line}\n\n`);
    },
    done: () => output.write(encodeEvent(null, DONE)),
  };
}

function messageIn(data: string): string {
  const message = parseObject(data)?.['message'];
  return typeof message === 'string' ? message : data;
}
