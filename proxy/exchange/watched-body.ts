import { type Body, BufferedBody } from './body.ts';
import { PassingBody } from './passing-body.ts';

/** The body, telling of each piece that moves; what is in memory already stays as it is. */
export function watchedBody(body: Body, moved: () => void): Body {
  if (body.length === 0 || body instanceof BufferedBody) return body;
  return new PassingBody(body, (sink) => ({
    onData(chunk) {
      moved();
      sink.onData(chunk);
    },
    onEnd: (trailers) => sink.onEnd(trailers),
    onError: (error) => sink.onError(error),
  }));
}
