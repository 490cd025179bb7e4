import type { Transform } from 'node:stream';

import type { Body } from '../body.ts';
import { PushBody } from '../push-body.ts';

/** A body as it was before it was compressed, piece by piece. `decoder` is not used for anything else. */
export function decodedBody(source: Body, decoder: Transform): Body {
  const out = new PushBody();
  const fail = (error: Error): void => {
    source.cancel();
    decoder.destroy();
    out.fail(error);
  };
  decoder.on('data', (chunk: Buffer) => {
    out.push(chunk);
    if (out.full) decoder.pause();
  });
  decoder.on('end', () => out.end());
  decoder.on('error', fail);
  decoder.on('drain', () => source.resume());
  out.onDrain = () => decoder.resume();
  out.onCancel = () => {
    source.cancel();
    decoder.destroy();
  };
  source.pipe({
    onData: (chunk) => {
      if (!decoder.destroyed && !decoder.write(chunk)) source.pause();
    },
    onEnd: () => decoder.end(),
    onError: fail,
  });
  return out;
}
