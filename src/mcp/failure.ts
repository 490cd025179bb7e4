import { TimeoutError } from '../admin/client/errors.ts';
import { sendError } from '../chat/failure.ts';
import { exitCodes, GwError, messageOf } from '../shared/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts';
import type { Login } from './login.ts';

const TRACE = 'gwctl trace shows what becomes of a request';
const SERVERS = 'gwctl proxy config mcp --local shows which server fails, and why';
/** Of what stands in an error. */
const MAX_SAID = 500;

/** An answer of HTTP that is no success. */
export interface Refusal {
  readonly status: number;
  /** `x-gw-reason`, of a gateway. */
  readonly reason: string | null;
  readonly body: string;
}

/** What the library of the protocol threw, in words; `refusal` is the last answer that was none, which the library may keep to itself. */
export function mcpError(thrown: unknown, url: URL, refusal: Refusal | null = null): GwError {
  if (thrown instanceof GwError) return thrown;
  const { name, code, status } = fieldsOf(thrown);
  if (name === 'UnauthorizedError' || status === 401) return refusedLogin(url, { withToken: true, login: null });
  const known = refusal !== null && refusal.status === status ? refusal : null;
  const said = (known === null ? undefined : wordsOf(known.body)) ?? plainly(messageOf(thrown));
  if (status === 403)
    return new GwError(`${url.host} does not allow this: ${said}`, {
      code: 'GW_MCP_REFUSED',
      exitCode: exitCodes.refused,
      hint: TRACE,
    });
  if (code === 'REQUEST_TIMEOUT') return new TimeoutError(`${url.host} did not answer in time`, 'a longer --timeout');
  if (typeof code === 'number')
    return new GwError(`${url.host} answered with error ${code}: ${said}`, { code: 'GW_MCP_ERROR', hint: TRACE });
  if (status !== undefined)
    return new GwError(`${url.href} answered ${status}: ${said}`, {
      code: 'GW_MCP_ANSWER',
      hint: hintOf(url, status, known?.reason ?? null),
    });
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return sendError(cause, url, TRACE, 'the servers');
}

/** What a body says of why there is no answer: the message of an error of JSON-RPC, or a short text. */
function wordsOf(body: string): string | undefined {
  const text = body.trim();
  if (text === '' || text.startsWith('<')) return undefined;
  const message = parsed(text)?.['message'];
  const said = typeof message === 'string' ? plainly(message) : text;
  return said.length > MAX_SAID ? `${said.slice(0, MAX_SAID - 1)}…` : said;
}

function parsed(text: string): JsonObject | undefined {
  try {
    // `as`: the parser makes nothing else.
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) && isJsonObject(value['error']) ? value['error'] : undefined;
  } catch {
    return undefined;
  }
}

/** Without what libraries put before a message, which says nothing to whoever reads it. */
function plainly(message: string): string {
  return message.replace(/^(Error POSTing to endpoint|MCP error -?\d+): /, '');
}

function hintOf(url: URL, status: number, reason: string | null): string {
  if (status === 404 && reason === 'NotFound' && url.pathname === '/')
    return `an address with the path of the servers, such as ${url.origin}/mcp`;
  return reason === 'UpstreamFailure' ? SERVERS : TRACE;
}

/** The server wants to know who asks. */
export function refusedLogin(
  url: URL,
  { withToken, login }: { readonly withToken: boolean; readonly login: Login | null },
): GwError {
  const detail =
    login === null
      ? undefined
      : [
          `resource metadata: ${login.metadata}`,
          ...login.servers.map((server) => `authorization server: ${server}`),
        ].join('\n');
  const from = login?.servers[0] === undefined ? '' : `, an access token of ${login.servers[0]}`;
  return new GwError(withToken ? `${url.host} refuses the token` : `${url.host} asks for a login`, {
    code: 'GW_MCP_REFUSED',
    exitCode: exitCodes.refused,
    hint: `${withToken ? 'another ' : ''}--token${from}`,
    ...(detail === undefined ? {} : { detail }),
  });
}

function fieldsOf(thrown: unknown): { name?: string; code?: unknown; status?: number } {
  if (!(thrown instanceof Error)) return {};
  const status = 'status' in thrown && typeof thrown.status === 'number' ? thrown.status : undefined;
  return {
    name: thrown.name,
    ...('code' in thrown ? { code: thrown.code } : {}),
    ...(status === undefined ? {} : { status }),
  };
}
