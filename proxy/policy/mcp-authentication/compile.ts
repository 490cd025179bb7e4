import type { McpOAuth } from '../../../src/config/ir/index.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import { pathOf } from '../../exchange/message.ts';
import { Patience } from '../../exchange/patience.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { answer, errorBody, failure, preflight, wrongMethod } from './answer.ts';
import type { OwnAddresses } from './metadata.ts';
import { authorize, requestToken } from './pass-on.ts';
import { escaped, oauthPlace, type OAuthPlace, publicAddress, resourceMetadataUrl } from './place.ts';
import { register } from './registration.ts';
import { resourceMetadata } from './resource.ts';
import { AuthorizationServer } from './server.ts';

const KIND = 'mcp_authentication';
const TOKEN_REQUIRED = errorBody('unauthorized', 'JWT token required');

/** Answers what MCP clients ask on the way to a token, and tells those that `verify` refuses where the way begins. */
export function mcpAuthentication(spec: McpOAuth, verify: RequestStep, context: PolicyContext): RequestStep {
  const { deps, source } = context;
  const server = new AuthorizationServer(spec, deps);
  const origin = originOf(spec);
  const passesOn = spec.provider === 'entra';

  const challenged = (exchange: Exchange, outcome: Outcome): Outcome => {
    if (outcome.kind !== 'fail' || outcome.refusal.status !== 401) return outcome;
    const url = isNameless(exchange, origin) ? null : resourceMetadataUrl(publicAddress(exchange, origin));
    if (exchange.trace !== null) exchange.trace.applied(KIND, `client sent to ${url} (from ${source})`, 'warn');
    const headers = Headers.from([
      ['www-authenticate', url === null ? 'Bearer' : `Bearer resource_metadata="${url}"`],
      ['content-type', 'application/json'],
    ]);
    return { kind: 'fail', refusal: { ...outcome.refusal, headers, body: TOKEN_REQUIRED } };
  };
  const answered = (exchange: Exchange, place: OAuthPlace): Outcome | Promise<Outcome> => {
    if (isNameless(exchange, origin)) return nameless;
    const { base } = publicAddress(exchange, origin);
    const own = { resource: base + escaped(place.at.resource), document: base + escaped(place.at.document) };
    if (place.kind === 'resource') return resourceMetadata(spec, own.resource);
    if (deps.dryRun !== undefined && asksProvider(spec, place)) return notAsked(exchange, spec.metadataUrl);
    return askingProvider(exchange, { kind: place.kind, own, server, context });
  };

  return (exchange) => {
    const place = placeOf(exchange, passesOn);
    if (place !== null) {
      const outcome = answered(exchange, place);
      if (exchange.trace === null) return outcome;
      const told = (settled: Outcome): Outcome => report(exchange, { outcome: settled, kind: place.kind, source });
      return outcome instanceof Promise ? outcome.then(told) : told(outcome);
    }
    const outcome = verify(exchange);
    return outcome instanceof Promise
      ? outcome.then((settled) => challenged(exchange, settled))
      : challenged(exchange, outcome);
  };
}

/** Clients before HTTP/1.1 name no host: no address can be told to them. */
function isNameless({ clientAuthority }: Exchange, origin: string | null): boolean {
  return origin === null && clientAuthority === '';
}

const nameless = failure('the request names no host', {
  status: 400,
  reason: 'InvalidRequest',
  methods: 'GET',
  error: 'invalid_request',
});

/** The place that a request names, as it is now or as the client wrote it. */
function placeOf({ request, clientTarget }: Exchange, passesOn: boolean): OAuthPlace | null {
  const place = oauthPlace(pathOf(request.target), passesOn);
  return place === null && request.target !== clientTarget ? oauthPlace(pathOf(clientTarget), passesOn) : place;
}

/** Scheme and authority that the configuration names for the MCP server. */
function originOf({ resourceMetadata: { resource } }: McpOAuth): string | null {
  if (typeof resource !== 'string' || !URL.canParse(resource)) return null;
  const { protocol, origin } = new URL(resource);
  return protocol === 'http:' || protocol === 'https:' ? origin : null;
}

interface Asked {
  readonly kind: Exclude<OAuthPlace['kind'], 'resource'>;
  readonly own: OwnAddresses;
  readonly server: AuthorizationServer;
  readonly context: PolicyContext;
}

async function askingProvider(exchange: Exchange, { kind, own, server, context }: Asked): Promise<Outcome> {
  if (kind === 'server') return server.publish(exchange, own);
  const { method } = exchange.request;
  const allowed = kind === 'authorize' ? 'GET' : 'POST';
  if (method === 'OPTIONS') return preflight(allowed);
  if (method !== allowed) return wrongMethod(allowed);
  if (kind === 'authorize') return authorize(exchange, server);
  const patience = new Patience(exchange, context.deps.clock);
  try {
    return await (kind === 'token' ? requestToken : register)(exchange, server, patience);
  } finally {
    patience.release();
  }
}

function asksProvider({ clientId }: McpOAuth, { kind }: OAuthPlace): boolean {
  return kind !== 'client-registration' || clientId === undefined;
}

/** Where requests are only explained, nobody is called; what the provider says would be the answer. */
function notAsked(exchange: Exchange, target: string): Outcome {
  exchange.trace?.emit({ type: 'policyEvent', kind: KIND, details: { notAsked: target } }, 'warn');
  return answer('', { status: 200, methods: 'GET' });
}

const NAMES: Readonly<Record<OAuthPlace['kind'], string>> = {
  resource: 'protected resource metadata',
  server: 'authorization server metadata',
  'client-registration': 'client registration',
  authorize: 'authorization request',
  token: 'token request',
};

interface Told {
  readonly outcome: Outcome;
  readonly kind: OAuthPlace['kind'];
  readonly source: string;
}

function report(exchange: Exchange, { outcome, kind, source }: Told): Outcome {
  const what = NAMES[kind];
  if (outcome.kind === 'respond')
    exchange.trace?.applied(KIND, `${what}: answered with ${outcome.response.status} (from ${source})`, 'success');
  else if (outcome.kind === 'fail')
    exchange.trace?.applied(KIND, `${what}: ${outcome.refusal.message} (from ${source})`, 'error');
  return outcome;
}
