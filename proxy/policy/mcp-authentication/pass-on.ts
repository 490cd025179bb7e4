import type { McpOAuth } from '../../../src/config/ir/index.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { queryOf } from '../../exchange/message.ts';
import type { Patience } from '../../exchange/patience.ts';
import type { Outcome } from '../contract.ts';
import { answer, failure } from './answer.ts';
import { readBody, withoutResource } from './form.ts';
import { type AuthorizationServer, looping } from './server.ts';

const FORM = 'application/x-www-form-urlencoded';
/** Grants in which a client with a secret has to show it. */
const SECRET_GRANTS: readonly (string | null)[] = ['authorization_code', 'refresh_token'];

/** Sends a browser on to the provider, which does not know `resource` (RFC 8707) and would refuse it. */
export async function authorize(exchange: Exchange, server: AuthorizationServer): Promise<Outcome> {
  const known = await server.metadata(exchange);
  if ('kind' in known) return known;
  const url = new URL(known.authorizationEndpoint);
  const asked = withoutResource(queryOf(exchange.request.target).slice(1));
  url.search = [url.search.slice(1), asked].filter((part) => part !== '').join('&');
  return answer('', { status: 302, methods: 'GET', headers: [['location', url.href]] });
}

/** Passes a request for a token on without `resource`, and with the secret of the client that the configuration names. */
export async function requestToken(
  exchange: Exchange,
  server: AuthorizationServer,
  patience: Patience,
): Promise<Outcome> {
  const { headers } = exchange.request;
  const body = await readBody(exchange, patience);
  if (typeof body !== 'string') return body;
  const form = new URLSearchParams(body);
  const problem = formProblem(headers.get('content-type'), form);
  if (problem !== null)
    return failure(problem, { status: 400, reason: 'InvalidRequest', methods: 'POST', error: 'invalid_request' });
  const known = await server.metadata(exchange);
  if ('kind' in known) return known;
  const mark = server.loops.mark(headers.getAll('cdn-loop'));
  if (mark === null) return looping();
  const authorization = headers.get('authorization');
  form.delete('resource');
  if (authorization === undefined) addSecret(form, server.spec);
  return server.relay.send(
    exchange,
    {
      url: known.tokenEndpoint,
      headers: {
        'content-type': FORM,
        accept: 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
        ...mark,
      },
      body: form.toString(),
    },
    patience,
  );
}

/** RFC 6749 section 3.2: no parameter twice, or the secret might be added for another client. */
function formProblem(type: string | undefined, form: URLSearchParams): string | null {
  if (type?.split(';', 1)[0]?.trim().toLowerCase() !== FORM) return `a request for a token is ${FORM}`;
  const names = [...form.keys()].filter((name) => name !== 'resource');
  return new Set(names).size === names.length ? null : 'a parameter stands twice';
}

/** Only for the client whose secret it is, and where it brings no other proof of its own. */
function addSecret(form: URLSearchParams, { clientId, clientSecret }: McpOAuth): void {
  if (clientSecret === undefined || form.has('client_secret') || form.has('client_assertion')) return;
  if (form.get('client_id') !== clientId || !SECRET_GRANTS.includes(form.get('grant_type'))) return;
  form.set('client_secret', clientSecret.reveal());
}
