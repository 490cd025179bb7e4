import { createParser } from 'eventsource-parser';
import type { Dispatcher } from 'undici';
import { InterruptedError, TimeoutError } from '../admin/client/errors.ts';
import { GwError, messageOf } from '../shared/errors.ts';
import type { ChatMessage } from './answer.ts';
import { brokenStream, refusedError, sendError } from './failure.ts';
import type { Question } from './formats/contract.ts';
import { questionRequest, type QuestionPlace } from './question.ts';
import { ChatReader, parseObject } from './reader.ts';

export interface AskOptions extends QuestionPlace {
  readonly tls: { readonly insecure: boolean; readonly ca: string | undefined };
  /** How long may pass until the answer begins, and between two pieces of it; milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** A command that shows what happens to the request. */
  readonly hint: string;
  /** A command that lists the models that there are. */
  readonly modelsHint: string;
  /** Text as it comes. */
  readonly onText: (text: string) => Promise<void>;
}

/** What was said, and how long it took; milliseconds. */
export interface AskResult {
  readonly url: string;
  readonly status: number;
  readonly message: ChatMessage;
  readonly streamed: boolean;
  /** Until the first text; null when none came. */
  readonly firstTextMs: number | null;
  readonly totalMs: number;
}

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** Sends the question and reads the answer to its end. Throws a `GwError` in words for everything but an answer. */
export async function ask(question: Question, options: AskOptions): Promise<AskResult> {
  const { url, headers, body } = questionRequest(question, options);
  const { Agent } = await import('undici');
  const { insecure, ca } = options.tls;
  const agent = new Agent({
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
    connect: { timeout: options.timeoutMs, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) },
  });
  const startedAt = performance.now();
  try {
    const response = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: headers.flat(),
      body,
      signal: options.signal,
    });
    return await new Answer(response, { url, startedAt, options }).read();
  } catch (error) {
    if (options.signal.aborted)
      throw options.signal.reason instanceof GwError ? options.signal.reason : new InterruptedError();
    throw sendError(error, url, options.hint);
  } finally {
    await agent.destroy();
  }
}

class Answer {
  readonly #response: Dispatcher.ResponseData;
  readonly #context: { readonly url: URL; readonly startedAt: number; readonly options: AskOptions };
  readonly #reader = new ChatReader();
  #printed = 0;
  #firstTextMs: number | null = null;

  constructor(
    response: Dispatcher.ResponseData,
    context: { readonly url: URL; readonly startedAt: number; readonly options: AskOptions },
  ) {
    this.#response = response;
    this.#context = context;
  }

  async read(): Promise<AskResult> {
    const { statusCode, headers } = this.#response;
    const { options, url, startedAt } = this.#context;
    if (statusCode < 200 || statusCode > 299) {
      const reason = headers['x-gw-reason'];
      const body = await this.#text(MAX_ERROR_BYTES);
      const word = typeof reason === 'string' ? reason : undefined;
      const { hint, modelsHint } = options;
      throw refusedError({ status: statusCode, reason: word, body, hint: word === 'NotFound' ? modelsHint : hint });
    }
    const streamed = /text\/event-stream/i.test(String(headers['content-type'] ?? ''));
    if (streamed) await this.#events();
    else await this.#whole();
    return {
      url: url.href,
      status: statusCode,
      message: this.#reader.message,
      streamed,
      firstTextMs: this.#firstTextMs,
      totalMs: performance.now() - startedAt,
    };
  }

  async #whole(): Promise<void> {
    const text = await this.#text(MAX_ANSWER_BYTES);
    const body = parseObject(text);
    if (body !== undefined) this.#reader.whole(body);
    await this.#say();
    if (this.#reader.isEmpty)
      throw brokenStream(`the answer holds no message: ${text.trim().slice(0, 200)}`, this.#context.options.hint);
  }

  async #events(): Promise<void> {
    const parser = createParser({ onEvent: ({ data }) => this.#reader.event(data) });
    const decoder = new TextDecoder();
    const { hint } = this.#context.options;
    try {
      // undici bodies deliver buffers.
      for await (const part of this.#response.body) {
        parser.feed(decoder.decode(part as Uint8Array, { stream: true }));
        await this.#say();
      }
    } catch (error) {
      if (this.#context.options.signal.aborted) throw error;
      if (isTimeout(error)) throw new TimeoutError('nothing more came of the answer in time', 'a longer --timeout');
      throw brokenStream(`the connection broke in the middle of the answer: ${messageOf(error)}`, hint);
    }
    const { error, finish } = this.#reader.message;
    if (error !== undefined) throw brokenStream(`the answer broke off: ${error}`, hint);
    if (this.#reader.isEmpty) throw brokenStream('the stream ended without a message', hint);
    if (finish === undefined) throw brokenStream('the stream ended in the middle of the answer', hint);
  }

  async #say(): Promise<void> {
    const { text } = this.#reader;
    if (text.length === this.#printed) return;
    this.#firstTextMs ??= performance.now() - this.#context.startedAt;
    const fresh = text.slice(this.#printed);
    this.#printed = text.length;
    await this.#context.options.onText(fresh);
  }

  async #text(limit: number): Promise<string> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    // undici bodies deliver buffers.
    for await (const part of this.#response.body) {
      parts.push(part as Uint8Array);
      bytes += (part as Uint8Array).byteLength;
      if (bytes > limit) break;
    }
    return Buffer.concat(parts).toString('utf8');
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'UND_ERR_BODY_TIMEOUT';
}
