import { BufferedBody } from '../../../exchange/body.ts';
import { collect } from '../../../exchange/collect.ts';
import type { HttpResponse } from '../../../exchange/message.ts';
import type { TargetFailure } from '../../targets/contract.ts';
import { headersOf, type RelayedHeaders } from './relayed-call.ts';

/** A failure as it can be sent: bodies are streams of the thread that has them, so they are read first. */
export type SentFailure =
  | Exclude<TargetFailure, { readonly kind: 'http' }>
  | (Omit<Extract<TargetFailure, { readonly kind: 'http' }>, 'response'> & { readonly answer: SentAnswer | null });

interface SentAnswer {
  readonly headers: RelayedHeaders;
  readonly body: Uint8Array;
}

/** What servers say of failures is short; of a longer answer only the status is told. */
const LIMIT_BYTES = 2 ** 20;

/** Null where nothing has to be waited for. */
export function bodyOf(failure: TargetFailure | null): HttpResponse | null {
  return failure?.kind === 'http' ? failure.response : null;
}

/** Reads the body to its end. */
export async function sent(failure: TargetFailure | null): Promise<SentFailure | null> {
  if (failure?.kind !== 'http') return failure;
  const { response, ...rest } = failure;
  return { ...rest, answer: response === null ? null : await read(response) };
}

export function received(failure: SentFailure | null): TargetFailure | null {
  if (failure?.kind !== 'http') return failure;
  const { answer, ...rest } = failure;
  if (answer === null) return { ...rest, response: null };
  const response = { status: rest.status, headers: headersOf(answer.headers), body: new BufferedBody(answer.body) };
  return { ...rest, response };
}

async function read({ headers, body }: HttpResponse): Promise<SentAnswer | null> {
  const collected = await collect(body, LIMIT_BYTES);
  if (collected.kind === 'overflow') collected.rest.cancel();
  if (collected.kind !== 'whole') return null;
  return { headers: { names: headers.names, values: headers.values }, body: collected.body.bytes };
}
