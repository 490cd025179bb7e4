import { Secret } from '../../../shared/secret.ts';
import { readDiscovery } from '../../documents/discovery.ts';
import { httpUrl } from '../../documents/http-url.ts';
import type { Oidc } from '../../ir/policy/oidc.ts';
import type { Path } from '../../load/problem.ts';
import type { OidcSpec } from '../../schema/policy/oidc.ts';
import type { Context } from '../context.ts';
import { documentText, keySet } from '../document.ts';
import type { Place } from '../simple-backend.ts';

const COOKIE_SECRET = 'OIDC_COOKIE_SECRET';

/** Undefined after a problem, or while a file is not read yet. */
export function oidc(context: Context, spec: OidcSpec, place: Place): Oidc | undefined {
  const path = [...place.path, 'oidc'];
  const cookieKey = readCookieKey(context, path);
  const redirectUri = readRedirectUri(context, spec.redirectURI, [...path, 'redirectURI']);
  const provider = readProvider(context, spec, path);
  const clientSecret = readSecret(context, spec.clientSecret, [...path, 'clientSecret']);
  if (cookieKey === undefined || redirectUri === undefined || provider === undefined || clientSecret === undefined)
    return undefined;
  const { issuer, clientId, scopes } = spec;
  return {
    policyId: place.origin ?? place.key,
    issuer,
    clientId,
    clientSecret,
    redirectUri,
    scopes: [...new Set(['openid', ...scopes.flatMap((scope) => scope.split(' ').filter((word) => word !== ''))])],
    provider,
    cookieKey,
  };
}

/** The key is never in the file: cookies of every replica have to be readable for every other. */
function readCookieKey(context: Context, path: Path): Secret | undefined {
  const text = context.host.env[COOKIE_SECRET]?.trim() ?? '';
  if (/^[0-9a-fA-F]{64}$/.test(text)) return new Secret(text);
  const message =
    text === ''
      ? `${COOKIE_SECRET} is required when oidc is configured`
      : `${COOKIE_SECRET} is not 64 hexadecimal digits`;
  context.report(path, 'GW_CONFIG_ENVIRONMENT', message, {
    hint: `export ${COOKIE_SECRET}=$(openssl rand -hex 32)`,
    atKey: true,
  });
  return undefined;
}

function readSecret(context: Context, spec: OidcSpec['clientSecret'], path: Path): Secret | undefined {
  const document = documentText(context, spec, path);
  if (document?.kind !== 'text') return undefined;
  const secret = document.text.trim();
  if (secret !== '') return new Secret(secret);
  context.report(path, 'GW_CONFIG_VALUE', 'the client secret is empty');
  return undefined;
}

/** Its path is the one that the provider sends browsers back to, so it has to mean one thing only. */
function readRedirectUri(context: Context, text: string, path: Path): string | undefined {
  const problem = redirectProblem(text);
  if (problem === undefined) return text;
  context.report(path, 'GW_CONFIG_VALUE', problem, { hint: 'for example https://shop.example.com/oauth/callback' });
  return undefined;
}

function redirectProblem(text: string): string | undefined {
  const url = httpUrl(text);
  if ('problem' in url) return `the address ${url.problem}`;
  const written = /^https?:\/\/[^/?#\\]+(\/[^?#]*)?([?#].*)?$/i.exec(text);
  const path = written?.[1] ?? '';
  if (written === null) return 'the address cannot be read';
  if (written[2] !== undefined) return 'the address has a query or a fragment';
  if (path === '' || path === '/') return 'the address needs a path of its own, other than /';
  if (/%2f|%5c|\\/i.test(path)) return 'the path holds an encoded slash or a backslash';
  if (path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return 'the path holds a dot segment';
  return path === new URL(text).pathname ? undefined : 'the path holds characters that have to be percent-encoded';
}

function readProvider(context: Context, spec: OidcSpec, path: Path): Oidc['provider'] | undefined {
  const { issuer, authorizationEndpoint, tokenEndpoint, jwks, tokenEndpointAuth = 'clientSecretBasic' } = spec;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined || jwks === undefined)
    return readDiscovered(context, spec, path);
  const keys = keySet(context, jwks, [...path, 'jwks']);
  const authorization = endpoint(context, authorizationEndpoint, [...path, 'authorizationEndpoint']);
  const token = endpoint(context, tokenEndpoint, [...path, 'tokenEndpoint']);
  issuerUrl(context, issuer, path);
  if (keys === undefined || authorization === undefined || token === undefined) return undefined;
  return { kind: 'explicit', authorizationEndpoint: authorization, tokenEndpoint: token, tokenEndpointAuth, keys };
}

function readDiscovered(context: Context, spec: OidcSpec, path: Path): Oidc['provider'] | undefined {
  const { issuer, discovery } = spec;
  const base = issuerUrl(context, issuer, path);
  if (base === undefined) return undefined;
  const source = discovery ?? { url: `${base.replace(/\/$/, '')}/.well-known/openid-configuration` };
  const document = documentText(context, source, [...path, 'discovery']);
  if (document === undefined) return undefined;
  if (document.kind === 'remote') return { kind: 'remote', content: 'discovery', url: document.url, issuer };
  const read = readDiscovery(document.text, issuer);
  if (typeof read === 'string') {
    const message = `the discovery document in ${document.name} cannot be used: ${read}`;
    context.report([...path, 'discovery'], 'GW_CONFIG_VALUE', message);
    return undefined;
  }
  const { authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, jwksUri } = read;
  const keys = { kind: 'remote', content: 'keySet', url: jwksUri } as const;
  return { kind: 'explicit', authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, keys };
}

/** The issuer as written: it is compared byte for byte later. */
function issuerUrl(context: Context, issuer: string, path: Path): string | undefined {
  return endpoint(context, issuer, [...path, 'issuer']) === undefined ? undefined : issuer;
}

function endpoint(context: Context, text: string, path: Path): string | undefined {
  const url = httpUrl(text);
  if ('href' in url) return url.href;
  context.report(path, 'GW_CONFIG_VALUE', `the address ${url.problem}`);
  return undefined;
}
