import { createParser } from 'eventsource-parser';
import { GwError } from '../../shared/errors.ts';
import { parseTraceEvent } from '../protocol/decode-trace-event.ts';
import type { TraceEvent } from '../protocol/trace-event.ts';

/** An event and the JSON text that it came as, on one line. */
export interface TraceFrame {
  readonly event: TraceEvent;
  readonly raw: string;
}

const MAX_LINE = 64 * 1024 * 1024;

/**
 * Reads a trace: server-sent events, or JSON Lines, or both mixed, in UTF-8 with or without a byte order mark.
 * Every whole event is delivered before an error about a broken one is thrown.
 */
export async function* readTraceFrames(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<TraceFrame> {
  const decoder = new TextDecoder();
  const lines = new LineReader();
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    for (const raw of lines.feed(text)) yield toFrame(raw);
  }
  for (const raw of lines.feed(decoder.decode())) yield toFrame(raw);
  const rest = lines.end();
  for (const raw of rest) yield lastFrame(raw);
}

function toFrame(raw: string): TraceFrame {
  return { event: parseTraceEvent(raw), raw: /[\r\n]/.test(raw) ? JSON.stringify(JSON.parse(raw)) : raw };
}

/** The last event has no line end; when it does not parse, the recording was cut there. */
function lastFrame(raw: string): TraceFrame {
  try {
    return toFrame(raw);
  } catch (error) {
    throw new GwError('the trace is cut off in the middle of an event', { code: 'GW_TRACE_CUT', cause: error });
  }
}

/** Cuts text into the JSON texts of events. */
class LineReader {
  readonly #ready: string[] = [];
  readonly #sse = createParser({ onEvent: (event) => this.#ready.push(event.data) });
  #partial = '';
  #first = true;

  feed(text: string): readonly string[] {
    const all = this.#partial + (this.#first ? text.replace(/^\uFEFF/, '') : text);
    if (text !== '') this.#first = false;
    const lines = all.split('\n');
    this.#partial = lines.pop() ?? '';
    if (this.#partial.length > MAX_LINE) {
      throw new GwError('the trace has a line of more than 64 MiB', { code: 'GW_TRACE_DECODE' });
    }
    for (const line of lines) this.#line(line);
    return this.#ready.splice(0);
  }

  end(): readonly string[] {
    if (this.#partial !== '') this.#line(this.#partial);
    this.#partial = '';
    // An empty line ends the event that is under way.
    this.#sse.feed('\n');
    return this.#ready.splice(0);
  }

  #line(line: string): void {
    const text = line.trim();
    if (text.startsWith('{')) this.#ready.push(text);
    else this.#sse.feed(`${line.replace(/\r$/, '')}\n`);
  }
}
