import { BufferedBody } from '../../exchange/body.ts';
import { collect } from '../../exchange/collect.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { HttpRequest, HttpResponse } from '../../exchange/message.ts';
import { peekBody } from '../../exchange/peek.ts';
import type { BodyAnswer } from './body-answer.ts';
import { Ended } from './ended.ts';
import { ReplacedStart } from './replaced-start.ts';
import { passTrailers } from './trailers-body.ts';
import type { Turn } from './turn.ts';

/** Mode `buffered`: the whole body in one message. `announced`: the service has seen the headers. */
export async function passWhole(turn: Turn, announced: boolean): Promise<void> {
  const { side, message } = turn.parts.direction;
  const collected = await collect(message.body, turn.limitBytes, turn.reading);
  if (collected.kind === 'failed') throw turn.cutBy(collected.error);
  if (collected.kind === 'overflow') {
    message.body = collected.rest;
    throw new Ended(`the ${side} body is larger than ${turn.limitBytes} bytes`);
  }
  message.body = collected.body;
  const { bytes, trailers } = collected.body;
  const answer = await exchangeWhole(turn, bytes, trailers);
  const { headers } = message;
  if (!announced || !answer.mustFit) headers.remove('content-length');
  else if (answer.body !== null) checkLength(turn, message, answer.body);
  message.body = new BufferedBody(answer.body ?? bytes, answer.trailers);
  turn.done();
}

/** Mode `bufferedPartial`: the beginning of the body in one message; the rest goes on as it is. */
export async function passBeginning(turn: Turn): Promise<void> {
  const { message } = turn.parts.direction;
  const peeked = await peekBody(message.body, turn.limitBytes, turn.reading);
  if (peeked.kind === 'failed') throw turn.cutBy(peeked.error);
  const { bytes, body, whole } = peeked;
  message.body = body;
  if (whole) {
    const answer = await exchangeWhole(turn, bytes, body instanceof BufferedBody ? body.trailers : null);
    message.body = new BufferedBody(answer.body ?? bytes, answer.trailers);
    turn.done();
  } else {
    const answer = await turn.body(bytes, false);
    turn.mutate(answer.headers);
    if (answer.body !== null) message.body = new ReplacedStart(body, bytes.byteLength, answer.body);
    passTrailers(turn);
  }
  message.headers.remove('content-length');
}

/** The whole body, and its trailers where those are wanted. */
async function exchangeWhole(
  turn: Turn,
  bytes: Uint8Array,
  trailers: Headers | null,
): Promise<BodyAnswer & { readonly trailers: Headers | null }> {
  const asked = trailers !== null && turn.modes.trailers === 'send';
  const answer = await turn.body(bytes, !asked);
  turn.mutate(answer.headers);
  return { ...answer, trailers: asked ? await turn.trailers(trailers) : trailers };
}

/** A body that was announced has to have the length that was announced. */
function checkLength(turn: Turn, { headers }: HttpRequest | HttpResponse, body: Uint8Array): void {
  const announced = headers.get('content-length');
  if (announced === undefined || Number(announced) === body.byteLength) return;
  throw turn.breach(`replaced a body by ${body.byteLength} bytes, but content-length is ${announced}`);
}
