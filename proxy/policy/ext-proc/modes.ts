import type { ExtProcBodyMode, ExtProcModes, ExtProcSendMode } from '../../../src/config/ir/policy/ext-proc.ts';
import type { BodySendMode, HeaderSendMode, ProcessingMode } from '../../services/messages/process.ts';

export type Side = 'request' | 'response';

/** Which parts of one direction are sent. */
export interface SideModes {
  readonly headers: ExtProcSendMode;
  readonly body: ExtProcBodyMode;
  readonly trailers: ExtProcSendMode;
}

export function modesOf(modes: ExtProcModes, side: Side): SideModes {
  return side === 'request'
    ? { headers: modes.requestHeaders, body: modes.requestBody, trailers: modes.requestTrailers }
    : { headers: modes.responseHeaders, body: modes.responseBody, trailers: modes.responseTrailers };
}

/** Nothing of that direction would be sent, whatever the message is. */
export function isSilent({ headers, body, trailers }: SideModes): boolean {
  return headers === 'skip' && body === 'none' && trailers === 'skip';
}

const WIRE_NAMES: Readonly<Record<ExtProcBodyMode, BodySendMode>> = {
  none: 'NONE',
  buffered: 'BUFFERED',
  bufferedPartial: 'BUFFERED_PARTIAL',
  fullDuplexStreamed: 'FULL_DUPLEX_STREAMED',
};

export function wireMode(mode: ExtProcBodyMode): BodySendMode {
  return WIRE_NAMES[mode];
}

/**
 * The modes after a service has overridden some in its answer to the headers of `side`. Headers that were sent already and
 * bodies that stream are not up for change; `STREAMED` is not spoken here.
 */
export function overridden(modes: ExtProcModes, override: ProcessingMode, side: Side): ExtProcModes {
  const request = side === 'request' && modes.requestBody !== 'fullDuplexStreamed';
  const response = modes.responseBody !== 'fullDuplexStreamed';
  const changed: ExtProcModes = {
    requestHeaders: modes.requestHeaders,
    responseHeaders:
      side === 'request' ? sent(override.responseHeaderMode, modes.responseHeaders) : modes.responseHeaders,
    requestBody: request ? bodyOf(override.requestBodyMode, modes.requestBody) : modes.requestBody,
    responseBody: response ? bodyOf(override.responseBodyMode, modes.responseBody) : modes.responseBody,
    requestTrailers:
      side === 'request' ? sent(override.requestTrailerMode, modes.requestTrailers) : modes.requestTrailers,
    responseTrailers: sent(override.responseTrailerMode, modes.responseTrailers),
  };
  const streams = changed.requestBody === 'fullDuplexStreamed' || changed.responseBody === 'fullDuplexStreamed';
  return streams ? { ...changed, requestTrailers: 'send', responseTrailers: 'send' } : changed;
}

function sent(mode: HeaderSendMode | number | undefined, current: ExtProcSendMode): ExtProcSendMode {
  if (mode === 'SEND') return 'send';
  return mode === 'SKIP' ? 'skip' : current;
}

function bodyOf(mode: BodySendMode | number | undefined, current: ExtProcBodyMode): ExtProcBodyMode {
  switch (mode) {
    case 'NONE':
      return 'none';
    case 'BUFFERED':
      return 'buffered';
    case 'BUFFERED_PARTIAL':
      return 'bufferedPartial';
    case 'FULL_DUPLEX_STREAMED':
      return 'fullDuplexStreamed';
    default:
      return current;
  }
}
