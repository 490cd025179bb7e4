import type { ExtProcModes } from '../../../src/config/ir/policy/ext-proc.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Patience } from '../../exchange/patience.ts';
import type { RpcStream, ServiceError } from '../../services/contract.ts';
import { processMethod, type ProcessingRequest, type ProcessingResponse } from '../../services/messages/process.ts';
import { Ended } from './ended.ts';
import { Lane } from './lane.ts';
import { isSilent, modesOf, overridden, type Side, type SideModes, wireMode } from './modes.ts';
import { type Reply, replyOf } from './reply.ts';
import { evaluated, metadataHeaders, type Settings } from './settings.ts';

/** Where services look for attributes. */
const ATTRIBUTES = 'envoy.filters.http.ext_proc';

/** Room for what frames a body of the largest size that is held. */
const MESSAGE_OVERHEAD = 1024 * 1024;
const MIN_MESSAGE_BYTES = 4 * 1024 * 1024;

/** The usual end, which nobody is to blame for: one for all. */
const OVER = new Ended('the conversation is over');

/** The stream about one request and its response: opened with the first message, closed when both sides are done. */
export class Conversation {
  readonly settings: Settings;
  readonly request = new Lane();
  readonly response = new Lane();
  /** Aborted when there is no point in reading bodies any more. */
  readonly stop = new AbortController();
  readonly #exchange: Exchange;
  #modes: ExtProcModes;
  #stream: RpcStream<ProcessingRequest> | null = null;
  #ended: Ended | null = null;
  #context: Record<string, JsonObject> | undefined;
  #introduced = false;
  readonly #full = { request: false, response: false };
  readonly #drains: (() => void)[] = [];
  /** The service failed where that does not matter: it has no part in this exchange any more. */
  skipped = false;
  /** A body that was on its way was cut because of how the conversation ended. */
  cut = false;

  constructor(settings: Settings, exchange: Exchange) {
    this.settings = settings;
    this.#exchange = exchange;
    this.#modes = settings.spec.modes;
  }

  /** How it ended; null while it goes on. */
  get ended(): Ended | null {
    return this.#ended;
  }

  modes(side: Side): SideModes {
    return modesOf(this.#modes, side);
  }

  /** Takes an override in a reply to headers, where those are allowed. */
  override(reply: Reply, side: Side): void {
    if (reply.modeOverride === null || !this.settings.spec.allowModeOverride) return;
    this.#modes = overridden(this.#modes, reply.modeOverride, side);
  }

  /** Throws `Ended`. `attributes` go with the first message of a direction. */
  send(side: Side, part: ProcessingRequest, attributes: JsonObject | null = null): void {
    if (this.#ended !== null) throw this.#ended;
    if (!this[side].open) this.#context = this.#metadataContext();
    this[side].open = true;
    if (side === 'response') this.hold('response', this.#full.response);
    this.#opened().send({
      ...part,
      metadataContext: this.#context,
      ...(attributes === null || Object.keys(attributes).length === 0
        ? {}
        : { attributes: { [ATTRIBUTES]: attributes } }),
      ...this.#introduction(),
    });
  }

  /** Opens the stream before there is something to send. Throws `Ended`. */
  open(): void {
    if (this.#ended !== null) throw this.#ended;
    this.#opened();
  }

  /** Waits for the service, but not longer than its connection allows; rejects as `answer` does. */
  async within<T>(answer: Promise<T>): Promise<T> {
    const unwatch = this.watch();
    if (unwatch === null) return answer;
    try {
      return await answer;
    } finally {
      unwatch();
    }
  }

  /** Gives the conversation up unless the watch is ended in time; null where the connection has no limit. */
  watch(): (() => void) | null {
    const limitMs = this.#stream?.answerMs ?? null;
    if (limitMs === null) return null;
    return this.settings.clock.schedule(() => this.cancel('the service did not answer in time'), limitMs);
  }

  /** Metadata in answers to bodies and trailers comes too late for those who read it. */
  ignoreExtras({ part, dynamicMetadata }: Reply): void {
    if (dynamicMetadata !== null)
      this.settings.log.warn('dynamic metadata is only taken from answers to headers', { part });
  }

  /** The largest message that is taken of the service. */
  get maxMessageBytes(): number {
    return Math.max(MIN_MESSAGE_BYTES, this.settings.maxBufferBytes + MESSAGE_OVERHEAD);
  }

  /** Messages wait for the service: produce no more until a drain. */
  get full(): boolean {
    return this.#stream?.full ?? false;
  }

  onDrain(listener: () => void): void {
    this.#drains.push(listener);
  }

  /**
   * Holds back what the service sends while somebody does not take it. Once there is a response, a request body that nobody
   * reads any more must not keep it from coming.
   */
  hold(side: Side, full: boolean): void {
    this.#full[side] = full;
    if (this.#full.response || (this.#full.request && !this.response.open)) this.#stream?.pause();
    else this.#stream?.resume();
  }

  /** Nothing more is expected of one side; with both, the stream is closed. */
  done(side: Side): void {
    this[side].done = true;
    if (side === 'request' && !this.response.open && isSilent(this.modes('response'))) this.response.done = true;
    if (this.request.done && this.response.done) this.close();
  }

  /** All is said: closes the stream without waiting for the service. */
  close(): void {
    if (this.#ended !== null) return;
    this.#end(OVER);
    this.#stream?.close();
  }

  /** Bound to what the exchange is worth waiting for: beyond that, the conversation is given up. To be released. */
  patience(): Patience {
    const patience = new Patience(this.#exchange, this.settings.clock);
    const giveUp = (): void => this.cancel(patience.refusal?.message ?? 'given up');
    patience.signal.addEventListener('abort', giveUp, { once: true });
    if (patience.signal.aborted) giveUp();
    return patience;
  }

  /** Gives the conversation up. */
  cancel(message: string): void {
    if (this.#ended !== null) return;
    this.#end(new Ended(message));
    this.#stream?.cancel();
  }

  /** The service does not keep to the protocol. */
  breach(message: string): void {
    this.cancel(`the service ${message}`);
  }

  /** Whatever ended the exchange: nothing stays open. */
  leave(): void {
    if (this.request.busy || this.response.busy) this.cancel('the exchange is over');
    else this.close();
  }

  #opened(): RpcStream<ProcessingRequest> {
    if (this.#stream !== null) return this.#stream;
    const { client, initialMetadata, log } = this.settings;
    const exchange = this.#exchange;
    const stream = client.stream(
      processMethod,
      {
        onMessage: (message) => this.#onMessage(message),
        onEnd: (error) => this.#onEnd(error),
      },
      {
        timeoutMs: null,
        trace: exchange.trace?.scoped('ext_proc') ?? null,
        spans: exchange.spans,
        metadata: metadataHeaders(initialMetadata, exchange, log),
        maxMessageBytes: this.maxMessageBytes,
      },
    );
    this.#stream = stream;
    stream.onDrain(() => this.#drains.forEach((drain) => drain()));
    exchange.onEnd(() => this.leave());
    return stream;
  }

  /** The first message tells what is spoken. */
  #introduction(): Pick<ProcessingRequest, 'protocolConfig'> {
    if (this.#introduced) return {};
    this.#introduced = true;
    const { requestBody, responseBody } = this.settings.spec.modes;
    return { protocolConfig: { requestBodyMode: wireMode(requestBody), responseBodyMode: wireMode(responseBody) } };
  }

  #metadataContext(): Record<string, JsonObject> | undefined {
    const { metadataContext, log } = this.settings;
    if (metadataContext.length === 0) return undefined;
    return Object.fromEntries(
      metadataContext.map(([namespace, values]) => [namespace, evaluated(values, this.#exchange, log)] as const),
    );
  }

  #onMessage(message: ProcessingResponse): void {
    if (this.#ended !== null) return;
    if (message.immediateResponse !== undefined) {
      this.#end(new Ended('the service has answered by itself', message.immediateResponse));
      this.#stream?.close();
      return;
    }
    const found = replyOf(message);
    if (found === null) this.breach('sent an answer without content');
    else if (!this[found.side].push(found.reply)) this.breach('answered what it was not asked');
  }

  #onEnd(error: ServiceError | null): void {
    if (error === null) this.#end(new Ended('the service ended the stream early'));
    else this.#end(new Ended(error.message));
  }

  #end(ended: Ended): void {
    if (this.#ended !== null) return;
    this.#ended = ended;
    // Reading goes on where a failure would be forgiven.
    if (ended.immediate !== null || this.settings.spec.failureMode === 'failClosed') this.stop.abort(ended);
    this.request.end(ended);
    this.response.end(ended);
  }
}
