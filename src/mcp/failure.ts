import { TimeoutError } from '../admin/client/errors.ts';
import { sendError } from '../chat/failure.ts';
import { exitCodes, GwError, messageOf } from '../shared/errors.ts';
import type { Login } from './login.ts';

const HINT = 'gwctl trace shows what becomes of a request';

/** What the library of the protocol threw, in words. */
export function mcpError(thrown: unknown, url: URL): GwError {
  if (thrown instanceof GwError) return thrown;
  const { name, code, status } = fieldsOf(thrown);
  if (name === 'UnauthorizedError' || status === 401) return refusedLogin(url, { withToken: true, login: null });
  if (status === 403)
    return new GwError(`${url.host} does not allow this: ${messageOf(thrown)}`, {
      code: 'GW_MCP_REFUSED',
      exitCode: exitCodes.refused,
      hint: HINT,
    });
  if (code === 'REQUEST_TIMEOUT') return new TimeoutError(`${url.host} did not answer in time`, 'a longer --timeout');
  if (typeof code === 'number')
    return new GwError(`${url.host} answered with error ${code}: ${messageOf(thrown)}`, {
      code: 'GW_MCP_ERROR',
      hint: HINT,
    });
  if (status !== undefined)
    return new GwError(`${url.href} answered ${status}: ${messageOf(thrown)}`, { code: 'GW_MCP_ANSWER', hint: HINT });
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return sendError(cause, url, HINT, 'the servers');
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
