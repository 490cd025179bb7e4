import { STATUS_CODES } from 'node:http';
import { TimeoutError, transportError, UnreachableError } from '../admin/client/errors.ts';
import { exitCodes, GwError, messageOf, systemCodeOf, type ExitCode } from '../shared/errors.ts';
import { faultText, parseObject } from './reader.ts';

export interface RefusedAnswer {
  readonly status: number;
  /** The gateway's word for it, when it was the gateway that refused (`x-gw-reason`). */
  readonly reason: string | undefined;
  readonly body: string;
  readonly hint: string;
}

const MAX_MESSAGE = 600;

/** An answer that is none: status, whose word it is, what it says. */
export function refusedError({ status, reason, body, hint }: RefusedAnswer): GwError {
  const who = reason === undefined ? 'the model service' : 'the gateway';
  const word = reason === undefined ? '' : `, reason ${reason}`;
  const said = saidIn(body);
  const text = `${who} answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  return new GwError(`${text}${word}${said === '' ? '' : `: ${said}`}`, {
    code: 'GW_LLM_ANSWER',
    exitCode: exitCodeFor(status),
    hint,
  });
}

/** The stream ended with an error of the service, or before it had said everything. */
export function brokenStream(what: string, hint: string): GwError {
  return new GwError(what, { code: 'GW_LLM_STREAM', hint });
}

/** What a transport threw, with the address in words. */
export function sendError(thrown: unknown, url: URL, hint: string, whose = 'the models'): GwError {
  if (thrown instanceof GwError) return thrown;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const known = transportError(thrown, { kind: 'tcp', host, port });
  if (known instanceof UnreachableError)
    return new GwError(known.message, {
      code: known.code,
      exitCode: known.exitCode,
      cause: known.cause,
      hint: `the address of ${whose}: --port of the proxy on this machine, or --url http://host:port`,
    });
  if (known instanceof TimeoutError) return new TimeoutError(known.message, 'a longer --timeout');
  const code = systemCodeOf(thrown) ?? systemCodeOf(thrown instanceof Error ? thrown.cause : undefined) ?? '';
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED|ALTNAME/.test(code))
    return new GwError(`the certificate of ${url.host} is not trusted: ${messageOf(thrown)}`, {
      code: 'GW_UNTRUSTED',
      hint: '--cacert with the right file, or --insecure',
      cause: thrown,
    });
  return new GwError(`no usable answer from ${url.host}: ${messageOf(thrown)}`, {
    code: 'GW_NO_ANSWER',
    exitCode: exitCodes.unreachable,
    hint,
    cause: thrown,
  });
}

function exitCodeFor(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCodes.refused;
  return status === 408 || status === 504 ? exitCodes.timeout : exitCodes.failed;
}

function saidIn(body: string): string {
  const parsed = parseObject(body);
  const said = (parsed === undefined ? body : (faultText(parsed) ?? JSON.stringify(parsed))).trim();
  return said.length > MAX_MESSAGE ? `${said.slice(0, MAX_MESSAGE)}…` : said;
}
