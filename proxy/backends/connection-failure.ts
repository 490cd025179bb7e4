import { messageOf, systemCodeOf } from '../../src/shared/errors.ts';
import { lateTlsFailure } from './tls-failure.ts';
import { UpstreamError } from './upstream.ts';

/** Why an open connection to an upstream has failed, in words that name neither addresses nor source files. */
export function connectionFailure(error: unknown, peer: string): UpstreamError {
  const tls = lateTlsFailure(error);
  if (tls !== null) return new UpstreamError('tls', tls, { peer, cause: error });
  const code = systemCodeOf(error);
  const message = code === 'ECONNRESET' || code === 'EPIPE' ? 'connection reset' : messageOf(error);
  return new UpstreamError('reset', message, { peer, cause: error });
}
