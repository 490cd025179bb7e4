import { Transform, type TransformCallback } from 'node:stream';

import { isJsonObject, type JsonObject } from '../../../exchange/attributes.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import { Headers } from '../../../exchange/headers.ts';
import { object, objects, parseObject, text } from '../../json.ts';
import type { BodyGuard } from '../../service.ts';
import type { GuardedStream } from '../stream/guarded-stream.ts';
import { FrameReader, textFrame } from './frames.ts';

/** What bytes of a session pass on their way, in both directions. */
export interface Relay {
  readonly fromClient: Transform;
  readonly fromBackend: Transform;
}

export interface SessionOptions {
  readonly exchange: Exchange;
  readonly limitBytes: number;
  /** Over what users say; null lets it pass. */
  readonly request: BodyGuard | null;
  /** Over what the model writes, made for each of its answers; null lets it pass. */
  readonly stream: ((headers: Headers) => GuardedStream) | null;
}

type Message = { readonly text: string; readonly frames: Buffer } | { readonly text: null; readonly frames: Buffer };

/**
 * Guards over a realtime session (OpenAI). What a user writes is looked at as a prompt, what the model writes as a stream;
 * everything else passes. A block ends one message or one answer, not the session.
 */
export class GuardedSession implements Relay {
  readonly fromClient: Transform;
  readonly fromBackend: Transform;
  readonly #options: SessionOptions;
  #answer: GuardedStream | null = null;
  /** The rest of a blocked answer is left out. */
  #blocked = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { limitBytes } = options;
    // The limit of time was for the answer to the upgrade.
    options.exchange.deadlineAt = null;
    this.fromClient = relayed(limitBytes, (message) => this.#fromClient(message));
    this.fromBackend = relayed(limitBytes, (message) => this.#fromBackend(message));
    this.fromBackend.on('close', () => this.#answer?.over());
  }

  // ── what users say ──

  #fromClient({ text: said, frames }: Message): void | Promise<void> {
    const { request } = this.#options;
    const event =
      request === null || said === null || !said.includes('conversation.item.create') ? undefined : parseObject(said);
    const item = event?.['type'] === 'conversation.item.create' ? object(event['item']) : undefined;
    if (request === null || event === undefined || item === undefined || !isUserMessage(item)) {
      this.fromClient.push(frames);
      return;
    }
    return this.#prompt(request, { event, item, frames });
  }

  async #prompt(
    guard: BodyGuard,
    { event, item, frames }: { readonly event: JsonObject; readonly item: JsonObject; readonly frames: Buffer },
  ): Promise<void> {
    const { exchange } = this.#options;
    const body = { messages: [item] };
    const outcome = await guard(exchange, body, 'completions', exchange.request.headers);
    if (outcome.kind === 'fail') {
      const { body: said, message } = outcome.refusal;
      this.#tell(said === undefined ? message : Buffer.from(said).toString());
      return;
    }
    const content = objects(outcome.body['messages'])[0]?.['content'];
    if (outcome.body === body || content === undefined) {
      this.fromClient.push(frames);
      return;
    }
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
    this.fromClient.push(textFrame(JSON.stringify({ ...event, item: { ...item, content: parts } }), 'client'));
  }

  #tell(message: string): void {
    const error = { type: 'guardrail_blocked', code: 'guardrail_intervention', message };
    across(this.fromBackend, textFrame(JSON.stringify({ type: 'error', error }), 'server'));
  }

  // ── what the model writes ──

  #fromBackend({ text: written, frames }: Message): void | Promise<void> {
    const { stream } = this.#options;
    const event = stream === null || written === null || !tellsTexts(written) ? undefined : parseObject(written);
    const type = text(event?.['type']) ?? '';
    if (stream === null || written === null || event === undefined || !/^(response|conversation\.item)\./.test(type)) {
      this.fromBackend.push(frames);
      return;
    }
    const last = type === 'response.done';
    if (this.#blocked && !isOfUser(event)) {
      // Nothing of it is told again.
      if (last) this.fromBackend.push(textFrame(JSON.stringify(withoutOutput(event)), 'server'));
      this.#blocked = !last;
      return;
    }
    const answer = (this.#answer ??= this.#begin(stream(new Headers())));
    answer.event(null, event, written);
    if (last) answer.finish();
    const waiting = answer.settled();
    const settled = (): void => {
      if (last) this.#end();
    };
    return waiting === undefined ? settled() : waiting.then(settled);
  }

  #begin(answer: GuardedStream): GuardedStream {
    return answer.to({
      write: (json) => void this.fromBackend.push(textFrame(json, 'server')),
      hold() {},
      release() {},
      stop: () => {
        this.#blocked = true;
        this.#answer = null;
        across(this.fromClient, textFrame('{"type":"response.cancel"}', 'client'));
      },
    });
  }

  #end(): void {
    this.#answer?.over();
    this.#answer = null;
  }
}

/** Passes the messages of one side on in turn; more is only taken when the last of them has passed. */
function relayed(limitBytes: number, pass: (message: Message) => void | Promise<void>): Transform {
  const messages: Message[] = [];
  const reader = new FrameReader(
    {
      text: (whole, frames) => void messages.push({ text: whole, frames }),
      other: (frame) => void messages.push({ text: null, frames: frame }),
    },
    limitBytes,
  );
  const passAll = async (): Promise<Error | null> => {
    try {
      for (const message of messages.splice(0)) await pass(message);
      return null;
    } catch (error) {
      return asError(error);
    }
  };
  const take = async (done: TransformCallback): Promise<void> => {
    done(await passAll());
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      try {
        reader.push(chunk);
      } catch (error) {
        done(asError(error));
        return;
      }
      void take(done);
    },
  });
}

/** Into the other direction, which may have ended. */
function across(side: Transform, frame: Buffer): void {
  if (!side.destroyed && !side.writableEnded) side.push(frame);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function isUserMessage(item: JsonObject): boolean {
  return (item['type'] === undefined || item['type'] === 'message') && item['role'] === 'user';
}

/** What is told again of messages of users has passed already. */
function isOfUser(event: JsonObject): boolean {
  const role = object(event['item'])?.['role'];
  return role === 'user' || role === 'system';
}

/** By its words, before it is read: audio is large. */
function tellsTexts(message: string): boolean {
  return message.includes('text') || message.includes('response.done') || message.includes('refusal');
}

function withoutOutput(event: JsonObject): JsonObject {
  const response = event['response'];
  return isJsonObject(response) ? { ...event, response: { ...response, output: [] } } : event;
}
