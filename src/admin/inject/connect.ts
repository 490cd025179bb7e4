import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { hostInUrl } from '../client/address.ts';
import { TimeoutError, UnreachableError } from '../client/errors.ts';
import { GwError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import type { RequestPlan } from './plan.ts';

/** The listener that the request goes to, whatever its URL says. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** A socket on which HTTP can be spoken, after the TLS handshake for an https URL. */
export async function connect(plan: RequestPlan, to: Destination, signal: AbortSignal): Promise<Socket | TLSSocket> {
  const limit = AbortSignal.timeout(plan.connectTimeoutMs ?? 10_000);
  const until = AbortSignal.any([signal, limit]);
  const socket = connectTcp({ host: to.host, port: to.port, signal: until, noDelay: true });
  try {
    await once(socket, 'connect', { signal: until });
    return plan.url.protocol === 'https:' ? await secure(plan, socket, until) : socket;
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw error;
    const where = `${hostInUrl(to.host)}:${to.port}`;
    if (limit.aborted) throw new TimeoutError(`connecting to ${where} took too long`, 'a longer --connect-timeout');
    throw connectError(error, where);
  }
}

async function secure(plan: RequestPlan, socket: Socket, signal: AbortSignal): Promise<TLSSocket> {
  const { connect: connectTls } = await import('node:tls');
  const name = plan.url.hostname.replace(/^\[|\]$/g, '');
  const { insecure, ca, cert, key, passphrase } = plan.tls;
  const secured = connectTls({
    socket,
    host: name,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ALPNProtocols: protocolsOf(plan),
    rejectUnauthorized: !insecure,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
    ...(passphrase === undefined ? {} : { passphrase }),
  });
  await once(secured, 'secureConnect', { signal });
  return secured;
}

function protocolsOf(plan: RequestPlan): string[] {
  if (plan.httpVersion === '1.1') return ['http/1.1'];
  return plan.httpVersion === '2-prior-knowledge' ? ['h2'] : ['h2', 'http/1.1'];
}

function connectError(error: unknown, where: string): GwError {
  const code =
    systemCodeOf(error) ?? (error instanceof AggregateError ? systemCodeOf(error.errors.at(-1)) : undefined) ?? '';
  if (code === 'ECONNREFUSED') {
    return new UnreachableError(`cannot send the request: nothing listens on ${where}`, error);
  }
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED/.test(code)) {
    return new GwError(`the certificate of ${where} is not trusted: ${withoutAdvice(messageOf(error))}`, {
      code: 'GW_UNTRUSTED',
      hint: '--cacert with the right file, or -k, behind --',
      cause: error,
    });
  }
  if (code === 'ECONNRESET' || code.startsWith('ERR_SSL') || code === 'EPROTO') {
    return new GwError(`the TLS handshake with ${where} failed: ${tlsReason(error)}`, {
      code: 'GW_TLS',
      hint: 'http:// instead of https://, if the listener speaks plain HTTP',
      cause: error,
    });
  }
  return new UnreachableError(`cannot send the request to ${where}: ${messageOf(error)}`, error);
}

/** OpenSSL's own words out of the middle of `4033…:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/…`. */
function tlsReason(error: unknown): string {
  const text = messageOf(error).trim();
  return /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(text)?.[1] ?? text;
}

/** Node adds advice on starting Node, which is not what the user started. */
function withoutAdvice(text: string): string {
  return text.replace(/; if the root CA is installed locally.*$/s, '');
}
