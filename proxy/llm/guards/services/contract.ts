import type { JsonObject } from '../../../exchange/attributes.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { ServiceResponse } from '../../../services/contract.ts';
import { GuardFailure, type OwnAnswer, type Phase } from '../contract.ts';
import { parseObject } from '../../json.ts';
import type { FlatMessage } from '../text/contract.ts';

/** What a service is asked about. */
export interface Question {
  readonly exchange: Exchange;
  readonly phase: Phase;
  readonly signal: AbortSignal;
  /** Of the message that is looked at. */
  readonly headers: Headers;
  /** The request's body; null for answers. */
  readonly body: JsonObject | null;
  readonly messages: readonly FlatMessage[];
  /** Each text of the configured scope by itself. */
  readonly texts: () => readonly string[];
}

export type Answer =
  | { readonly kind: 'pass' }
  /** Other texts for the ones that were sent, as many. */
  | { readonly kind: 'texts'; readonly texts: readonly string[]; readonly what: string }
  | { readonly kind: 'messages'; readonly messages: readonly FlatMessage[]; readonly what: string }
  | ({ readonly kind: 'reject'; readonly what: string } & OwnAnswer);

export const passed: Answer = { kind: 'pass' };

/** Asks one service. Rejects with a `GuardFailure` when there is no answer to be had. */
export type Ask = (question: Question) => Promise<Answer>;

/** A service, ready to be asked. */
export interface GuardService {
  readonly name: string;
  readonly ask: Ask;
}

/** The JSON of a successful answer. Throws a `GuardFailure` for anything else. */
export function bodyOf({ status, body }: ServiceResponse): JsonObject {
  if (status < 200 || status > 299) throw new GuardFailure(`the service answered with status ${status}`);
  return objectIn(body);
}

export function objectIn(bytes: Uint8Array): JsonObject {
  const value = parseObject(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  if (value === undefined) throw new GuardFailure('the service answered with something that is no JSON object');
  return value;
}

/** All that is said, for services that look at one text. */
export function joined(messages: readonly FlatMessage[]): string {
  return messages
    .map(({ content }) => content)
    .filter((content) => content !== '')
    .join('\n');
}

/** Asks about one text of a streamed answer. */
export function askAboutText(
  { ask }: GuardService,
  text: string,
  about: Pick<Question, 'exchange' | 'headers' | 'signal'>,
): Promise<Answer> {
  const messages = [{ role: 'assistant', content: text }];
  return ask({ ...about, phase: 'response', body: null, messages, texts: () => [text] });
}
