import type { AwsAssumeRole, AwsAuth, TextOrExpression } from '../../../../src/config/ir/index.ts';
import { assertNever } from '../../../../src/shared/assert-never.ts';
import { collect } from '../../../exchange/collect.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import { LentCredentials } from '../../../exchange/lent-credentials.ts';
import { bodyRefusal, Patience } from '../../../exchange/patience.ts';
import { refuse, type Refusal } from '../../../exchange/refusal.ts';
import type { PolicyDeps } from '../../../policy/contract.ts';
import type { Cloud } from '../cloud.ts';
import type { CredentialKind } from '../contract.ts';
import { CredentialError } from '../failure.ts';
import { TokenCache } from '../token-cache.ts';
import { waitFor } from '../waiting.ts';
import { ambientKeys, SESSION_NAME } from './ambient.ts';
import { regionOf } from './region.ts';
import { type AwsKeys, sha256, SIGNATURE_HEADERS, signV4 } from './sigv4.ts';
import { assumeRole, type RoleSession, type Sts } from './sts.ts';

const DEFAULT_SERVICE = 'bedrock';
const MAX_ROLES = 8192;
/** Keys are fetched again this long before they end, while they are used still; */
const REFRESH_MS = 60_000;
/** and are not used for so long before. */
const MARGIN_MS = 10_000;
/** Keys of variables do not end; this is how often they are looked at again. */
const UNTIMED_MS = 3_600_000;
const tooLarge = refuse(413, 'InvalidRequest', 'request body too large to be signed');

/** Where the state of a definition is kept. */
export interface AwsDeps {
  readonly deps: PolicyDeps;
  readonly cloud: Cloud;
  /** Identity of the definition. */
  readonly key: string;
}

type KeySource = (exchange: Exchange) => AwsKeys | Promise<AwsKeys>;

/** Signs the request as it leaves: final path, headers and body. Throws a `GwError` without a region. */
export function awsSigner(spec: AwsAuth, own: AwsDeps): CredentialKind {
  const region = regionOf(spec, own.cloud);
  const scope = { region, service: spec.serviceName ?? DEFAULT_SERVICE };
  const keysFor = keySource(spec, region, own);
  const { clock, maxBufferSize } = own.deps;
  return {
    details: `signature for ${scope.service} in ${region}`,
    apply: async (exchange) => {
      const keys = keysFor(exchange);
      const waited =
        keys instanceof Promise ? await waitFor(exchange, clock, keys) : ({ kind: 'value', value: keys } as const);
      if (waited.kind === 'gaveUp') return waited.refusal;
      const hashed = await hashBody(exchange, own.deps, maxBufferSize);
      if (typeof hashed !== 'string') return hashed;
      const { request } = exchange;
      const lent = (exchange.lent ??= new LentCredentials());
      for (const name of SIGNATURE_HEADERS) lent.lendHeader(request, name);
      const { method, authority, target, headers } = request;
      const parts = { method, authority, target, headers, bodyHash: hashed };
      signV4(parts, waited.value, { scope, at: new Date() });
      return null;
    },
  };
}

/** The hash of the whole body, which is held from now on. */
async function hashBody(exchange: Exchange, { clock }: PolicyDeps, limit: number): Promise<string | Refusal> {
  const patience = new Patience(exchange, clock);
  try {
    const collected = await collect(exchange.request.body, limit, patience.signal);
    if (collected.kind === 'failed') return bodyRefusal(collected.error, patience);
    if (collected.kind === 'overflow') {
      collected.rest.cancel();
      return tooLarge;
    }
    exchange.request.body = collected.body;
    return sha256(collected.body.bytes);
  } finally {
    patience.release();
  }
}

function keySource({ credentials }: AwsAuth, region: string, { deps, cloud, key }: AwsDeps): KeySource {
  const sts = { cloud, region };
  const ambient = deps.stores.get(`${key} ambient`, () => keyCache(1));
  const fromEnvironment = (): AwsKeys | Promise<AwsKeys> => ambient.get('', () => ambientKeys(cloud, region));
  switch (credentials.kind) {
    case 'static': {
      const { accessKeyId, secretAccessKey, sessionToken } = credentials;
      const keys: AwsKeys = {
        accessKeyId,
        secretAccessKey: secretAccessKey.reveal(),
        sessionToken: sessionToken?.reveal() ?? null,
      };
      return () => keys;
    }
    case 'ambient':
      return fromEnvironment;
    case 'assumeRole':
      return roleSource(credentials, { sts, deps, key, fromEnvironment });
    default:
      return assertNever(credentials);
  }
}

function keyCache(maxEntries: number): TokenCache<AwsKeys> {
  return new TokenCache({ maxEntries, defaultTtlMs: UNTIMED_MS, marginMs: MARGIN_MS, refreshMs: REFRESH_MS });
}

interface RoleDeps {
  readonly sts: Sts;
  readonly deps: PolicyDeps;
  readonly key: string;
  readonly fromEnvironment: () => AwsKeys | Promise<AwsKeys>;
}

function roleSource(role: AwsAssumeRole, { sts, deps, key, fromEnvironment }: RoleDeps): KeySource {
  const roles = deps.stores.get(`${key} roles`, () => keyCache(MAX_ROLES));
  const name = textSource(role.sessionName ?? { kind: 'text', text: SESSION_NAME }, deps, 'aws sessionName');
  const tags = role.tags.map((tag) => [tag.key, textSource(tag.value, deps, `aws tag ${tag.key}`)] as const);
  return (exchange) => {
    const session: RoleSession = {
      roleArn: role.roleArn,
      sessionName: sessionName(name(exchange)),
      tags: tags.map(([tag, value]) => [tag, tagValue(value(exchange), tag)]),
    };
    return roles.get(JSON.stringify(session), async () => assumeRole(sts, session, await fromEnvironment()));
  };
}

/** A text, or what an expression gives; null when it fails. */
function textSource(source: TextOrExpression, deps: PolicyDeps, where: string): (exchange: Exchange) => string | null {
  if (source.kind === 'text') return () => source.text;
  const expression = deps.expressions.compile(source.expression, where);
  return (exchange) => expression.text(exchange);
}

function sessionName(name: string | null): string {
  if (name !== null && /^[\w+=,.@-]{2,64}$/.test(name)) return name;
  throw new CredentialError('the session name is none that AWS takes');
}

function tagValue(value: string | null, tag: string): string {
  if (value !== null && value.length <= 256) return value;
  throw new CredentialError(`the session tag ${tag} has no value that AWS takes`);
}
