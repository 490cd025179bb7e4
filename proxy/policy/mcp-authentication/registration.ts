import type { JsonValue } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Patience } from '../../exchange/patience.ts';
import { readObjectText } from '../../jwt/compact.ts';
import type { Outcome } from '../contract.ts';
import { answer, failure } from './answer.ts';
import { readBody } from './form.ts';
import { type AuthorizationServer, looping } from './server.ts';

/** Dynamic client registration (RFC 7591): with the client that the configuration names, or at the provider. */
export async function register(
  exchange: Exchange,
  { spec, loops, relay }: AuthorizationServer,
  patience: Patience,
): Promise<Outcome> {
  const body = await readBody(exchange, patience);
  if (typeof body !== 'string') return body;
  const asked = body.trim() === '' ? {} : readObjectText(body);
  if (asked === null)
    return failure('the client metadata are not a JSON object', {
      status: 400,
      reason: 'InvalidRequest',
      methods: 'POST',
      error: 'invalid_client_metadata',
    });
  if (spec.clientId !== undefined) return registered(spec.clientId, asked['redirect_uris']);
  if (spec.registrationUrl === undefined) return impossible();
  const mark = loops.mark(exchange.request.headers.getAll('cdn-loop'));
  if (mark === null) return looping();
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...mark };
  return relay.send(exchange, { url: spec.registrationUrl, headers, body }, patience);
}

/** A public client: it proves itself by PKCE. */
function registered(clientId: string, redirectUris: JsonValue | undefined): Outcome {
  const client = {
    client_id: clientId,
    client_id_issued_at: 0,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: Array.isArray(redirectUris) ? redirectUris : [],
  };
  return answer(JSON.stringify(client), { status: 201, methods: 'POST' });
}

function impossible(): Outcome {
  return failure('clients cannot register at this provider: the policy needs a `clientId`', {
    status: 500,
    reason: 'MCP',
    methods: 'POST',
    error: 'server_error',
  });
}
