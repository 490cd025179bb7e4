import type {
  BodyMutation,
  CommonResponse,
  HeaderMutation,
  ProcessingMode,
  ProcessingResponse,
} from '../../services/messages/process.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import type { Side } from './modes.ts';

/** What the service said to one message. */
export interface Reply {
  readonly part: 'headers' | 'body' | 'trailers';
  readonly headerMutation: HeaderMutation | null;
  readonly bodyMutation: BodyMutation | null;
  readonly dynamicMetadata: JsonObject | null;
  readonly modeOverride: ProcessingMode | null;
}

/** Which direction a message of the service is about, and what it says; null when it says nothing that is known. */
export function replyOf(message: ProcessingResponse): { readonly side: Side; readonly reply: Reply } | null {
  const { requestHeaders, responseHeaders, requestBody, responseBody, requestTrailers, responseTrailers } = message;
  const rest = { dynamicMetadata: message.dynamicMetadata ?? null, modeOverride: message.modeOverride ?? null };
  if (requestHeaders !== undefined) return { side: 'request', reply: common('headers', requestHeaders, rest) };
  if (requestBody !== undefined) return { side: 'request', reply: common('body', requestBody, rest) };
  if (responseHeaders !== undefined) return { side: 'response', reply: common('headers', responseHeaders, rest) };
  if (responseBody !== undefined) return { side: 'response', reply: common('body', responseBody, rest) };
  const trailers = requestTrailers ?? responseTrailers;
  if (trailers === undefined) return null;
  const { headerMutation = null } = trailers;
  const side = requestTrailers === undefined ? 'response' : 'request';
  return { side, reply: { part: 'trailers', headerMutation, bodyMutation: null, ...rest } };
}

function common(
  part: 'headers' | 'body',
  { response }: { readonly response?: CommonResponse | null },
  rest: Pick<Reply, 'dynamicMetadata' | 'modeOverride'>,
): Reply {
  const { headerMutation = null, bodyMutation = null } = response ?? {};
  return { part, headerMutation, bodyMutation, ...rest };
}
