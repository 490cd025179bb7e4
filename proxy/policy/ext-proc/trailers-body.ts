import type { Body } from '../../exchange/body.ts';
import type { Headers } from '../../exchange/headers.ts';
import { PassingBody } from '../../exchange/passing-body.ts';
import { Ended } from './ended.ts';
import type { Turn } from './turn.ts';

/** The body passes without the service; its trailers wait for it. */
export function passTrailers(turn: Turn): void {
  const { message } = turn.parts.direction;
  if (turn.modes.trailers === 'skip' || !mayHaveTrailers(message.body)) turn.done();
  else message.body = trailersBody(message.body, (trailers) => lookAt(turn, trailers));
}

/** Only bodies without a length can be followed by trailers that are not known yet. */
export function mayHaveTrailers(body: Body): boolean {
  return body.length === null;
}

async function lookAt(turn: Turn, trailers: Headers | null): Promise<Headers | null> {
  const { conversation, failOpen } = turn.parts;
  if (trailers === null || conversation.skipped) {
    turn.done();
    return trailers;
  }
  try {
    const passed = await turn.trailers(trailers);
    turn.done();
    return passed;
  } catch (error) {
    if (failOpen && !turn.bodySent && error instanceof Ended && error.immediate === null) {
      conversation.skipped = true;
      return trailers;
    }
    conversation.cut = true;
    throw error;
  }
}

/**
 * A body that passes as it is, but whose trailers are looked at before they pass. `look` gives the trailers that pass; when
 * it rejects, the body is cut. It is called once, unless the body is cut.
 */
function trailersBody(source: Body, look: (trailers: Headers | null) => Promise<Headers | null>): Body {
  let cancelled = false;
  return new PassingBody(
    source,
    (sink) => ({
      onData: (chunk) => sink.onData(chunk),
      onEnd(trailers) {
        look(trailers).then(
          (passed) => (cancelled ? undefined : sink.onEnd(passed)),
          (error: unknown) =>
            cancelled ? undefined : sink.onError(error instanceof Error ? error : new Error(String(error))),
        );
      },
      onError: (error) => sink.onError(error),
    }),
    () => (cancelled = true),
  );
}
