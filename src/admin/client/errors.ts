import { GwError, exitCodes, messageOf, systemCodeOf } from '../../shared/errors.ts';
import { formatAddress, type AdminAddress } from './address.ts';

/** Nothing answers at the address. */
export class UnreachableError extends GwError {
  constructor(message: string, cause?: unknown) {
    super(message, {
      code: 'GW_UNREACHABLE',
      exitCode: exitCodes.unreachable,
      hint: 'gwctl proxy run -f config.yaml',
      cause,
    });
    this.name = 'UnreachableError';
  }
}

/** Something answers, but not the way an admin interface does. */
export class ProtocolError extends GwError {
  constructor(message: string, cause?: unknown) {
    super(message, {
      code: 'GW_ADMIN_PROTOCOL',
      exitCode: exitCodes.unreachable,
      hint: 'give the admin address, not a listener: --address 127.0.0.1:15000',
      cause,
    });
    this.name = 'ProtocolError';
  }
}

interface Refused {
  readonly status: number;
  readonly statusText: string;
  readonly body: string;
  /** It says when to come again. */
  readonly passing: boolean;
}

/** The admin interface said no; `status` is its status, `body` what it wrote. */
export class StatusError extends GwError {
  readonly status: number;
  readonly body: string;
  readonly passing: boolean;

  constructor(path: string, answer: Refused) {
    const status = [answer.status, answer.statusText].filter(Boolean).join(' ');
    const detail = answer.body.trim();
    super(`${path} returned ${status}${detail === '' ? '' : `: ${detail}`}`, codesOf(answer.status));
    this.name = 'StatusError';
    this.status = answer.status;
    this.body = answer.body;
    this.passing = answer.passing;
  }
}

function codesOf(status: number): { readonly code: string; readonly exitCode: 1 | 2 | 5 } {
  if (status === 401 || status === 403) return { code: 'GW_ADMIN_REFUSED', exitCode: exitCodes.refused };
  if (status === 400) return { code: 'GW_ADMIN_BAD_REQUEST', exitCode: exitCodes.usage };
  return { code: 'GW_ADMIN_STATUS', exitCode: exitCodes.failed };
}

/** The proxy runs, but its first configuration is not live yet. */
export class NotLiveError extends GwError {
  constructor(address: string, cause?: unknown) {
    super(`the proxy at ${address} has no live configuration yet`, {
      code: 'GW_NOT_LIVE',
      exitCode: exitCodes.unreachable,
      hint: 'a longer --timeout; the log of the proxy tells what it waits for',
      cause,
    });
    this.name = 'NotLiveError';
  }
}

export class TimeoutError extends GwError {
  constructor(message: string, hint?: string) {
    super(message, { code: 'GW_TIMEOUT', exitCode: exitCodes.timeout, hint });
    this.name = 'TimeoutError';
  }
}

/** The person or a signal stopped the command. */
export class InterruptedError extends GwError {
  constructor() {
    super('interrupted', { code: 'GW_INTERRUPTED', exitCode: exitCodes.interrupted });
    this.name = 'InterruptedError';
  }
}

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'there is no such socket',
  ENOTSOCK: 'that is not a socket',
  EACCES: 'access to it is denied',
  EPERM: 'access to it is denied',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EADDRNOTAVAIL: 'the address is not available',
  EINVAL: 'the address is not usable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
};

/** Turns what a transport threw into an error that names the address and what to do. */
export function transportError(thrown: unknown, address: AdminAddress): GwError {
  if (thrown instanceof GwError) return thrown;
  const where = formatAddress(address);
  const code = systemCodeOf(thrown) ?? systemCodeOf(causeOf(thrown)) ?? innerCode(thrown) ?? '';
  const known = UNREACHABLE[code];
  if (known !== undefined) return new UnreachableError(`cannot reach ${where}: ${known}`, thrown);
  if (code.startsWith('HPE_') || (thrown instanceof Error && thrown.name === 'HTTPParserError'))
    return new ProtocolError(`${where} answers with something else than HTTP`, thrown);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return new TimeoutError(`${where} did not answer in time`);
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') {
    return new ProtocolError(`${where} closed the connection before it had answered`, thrown);
  }
  return new ProtocolError(`no usable answer from ${where}: ${messageOf(thrown)}`, thrown);
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : undefined;
}

/** The code of the last try when several addresses of a host were tried. */
function innerCode(thrown: unknown): string | undefined {
  return thrown instanceof AggregateError ? systemCodeOf(thrown.errors.at(-1)) : undefined;
}
