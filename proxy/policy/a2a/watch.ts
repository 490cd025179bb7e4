import type { A2aFacts } from '../../exchange/a2a-facts.ts';
import { joinChunks } from '../../exchange/collect.ts';
import { codingOf, decodersOf } from '../../exchange/coding/content-coding.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { lookedAtBody, type Onlooker } from '../../exchange/looked-at-body.ts';
import { PassingBody } from '../../exchange/passing-body.ts';
import { SseDecoder } from '../../exchange/sse/sse-decoder.ts';
import type { JsonValue } from '../../../src/shared/json.ts';
import { isJson, isEventStream } from './content-type.ts';
import { note } from './told.ts';

/** Reads along as an answer passes: nothing is held back, nothing is changed. What cannot be read is not told. */
export function watchAnswer(response: HttpResponse, facts: A2aFacts, limitBytes: number): void {
  const failed = response.status >= 400;
  const { headers } = response;
  // Over the HTTP binding the status says it; an answer without a body says no more.
  facts.outcome = failed ? 'error' : facts.binding === 'http' ? 'success' : 'unknown';
  if (failed) facts.errorCode = response.status;
  else if (facts.binding === 'grpc') return watchStatus(response, facts);
  const coding = codingOf(headers);
  // Nobody has to look at what is compressed twice.
  if (coding === undefined || (coding?.length ?? 0) > 1 || (response.body.length ?? 0) > limitBytes) return;
  const type = headers.get('content-type');
  const tell = (text: string): void => {
    if (isEventStream(type)) facts.events = (facts.events ?? 0) + 1;
    const answer = parsed(text);
    if (answer !== undefined) note(facts, answer, failed);
  };
  const onlooker = isEventStream(type) ? events(tell, limitBytes) : isJson(type) ? whole(tell, limitBytes) : null;
  if (onlooker === null) return;
  const decoder = coding === null ? null : (decodersOf(coding)[0] ?? null);
  // Without an onlooker for errors, broken data would end the process.
  decoder?.on('error', () => {});
  response.body = lookedAtBody(response.body, onlooker, decoder);
}

/** Messages of gRPC pass unread: the status, in the headers or after the messages, says how it ended. */
function watchStatus(response: HttpResponse, facts: A2aFacts): void {
  const read = (headers: Headers | null): void => {
    const status = headers?.get('grpc-status');
    if (status === undefined) return;
    facts.outcome = status === '0' ? 'success' : 'error';
    if (/^\d{1,3}$/.test(status) && status !== '0') facts.errorCode = Number(status);
  };
  read(response.headers);
  response.body = new PassingBody(response.body, (sink) => ({
    onData: (chunk) => sink.onData(chunk),
    onEnd(trailers) {
      read(trailers);
      sink.onEnd(trailers);
    },
    onError: (error) => sink.onError(error),
  }));
}

function parsed(text: string): JsonValue | undefined {
  try {
    // `as`: what `JSON.parse` gives.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

type Tell = (text: string) => void;

function whole(tell: Tell, limitBytes: number): Onlooker {
  let chunks: Uint8Array[] | null = [];
  let size = 0;
  return {
    push(chunk) {
      size += chunk.byteLength;
      if (size > limitBytes) chunks = null;
      // Whoever sends a chunk on may use its memory again.
      else chunks?.push(Uint8Array.prototype.slice.call(chunk));
    },
    end(complete) {
      if (complete && chunks !== null) tell(new TextDecoder().decode(joinChunks(chunks)));
    },
  };
}

/** The last event that says something counts. */
function events(tell: Tell, limitBytes: number): Onlooker {
  let decoder: SseDecoder | null = new SseDecoder({ event: (_name, data) => tell(data) }, limitBytes);
  const read = (use: (decoder: SseDecoder) => void): void => {
    try {
      if (decoder !== null) use(decoder);
    } catch {
      // An event without an end: it goes on, and is read no further.
      decoder = null;
    }
  };
  return {
    push: (chunk) => read((each) => each.push(chunk)),
    end(complete) {
      if (complete) read((each) => each.end());
    },
  };
}
