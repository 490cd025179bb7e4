import { z } from 'zod';
import { type AddIssue, exactlyOne, object, withRule } from '../build.ts';
import { cel, celMap, duration, secretText } from '../scalars.ts';
import { credentialLocation, credentialTarget } from './credential-location.ts';
import { policyServiceRule, policyServiceShape } from './policy-service.ts';

const strings = z.array(z.string().min(1)).default([]);
const signAlgorithm = z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384']).default('RS256');
const location = credentialTarget.optional();

const fixedKey = z
  .union([secretText, object('A key and where it goes.', { value: secretText, location })])
  .describe('A fixed key. Default place: the authorization header, after `Bearer `.');

const gcp = withRule(
  object('Google Cloud credentials.', {
    type: z.enum(['idToken', 'accessToken']).default('accessToken'),
    audience: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe('Of an identity token. Default: `https://` and the host of the backend.'),
    credential: secretText
      .optional()
      .describe(
        'A credential as JSON (service account, authorized user, impersonation, workload identity federation). Default: that of the environment.',
      ),
  }),
  (keys, add) => {
    if (keys['audience'] !== undefined && keys['type'] !== 'idToken')
      add('`audience` is for `type: idToken` only', { at: 'audience', code: 'GW_CONFIG_CONFLICT' });
  },
);

const sessionTag = withRule(
  object('A session tag.', {
    key: z.string().min(1).max(128),
    value: z.string().max(256).optional(),
    expression: cel.optional(),
  }),
  (keys, add) => {
    if ((keys['value'] === undefined) === (keys['expression'] === undefined))
      add('a session tag has either `value` or `expression`', { code: 'GW_CONFIG_CONFLICT' });
  },
);

const assumeRole = object('A role to take on with the credentials of the environment.', {
  roleArn: z.string().regex(/^arn:aws[a-z-]*:iam::[0-9]{12}:role\/.+$/, {
    error: 'expected the ARN of a role: arn:aws:iam::123456789012:role/name',
  }),
  sessionName: z
    .union([
      z.string().regex(/^[\w+=,.@-]{2,64}$/, { error: 'expected 2 to 64 letters, digits and _+=,.@-' }),
      object('By expression.', { expression: cel }),
    ])
    .optional()
    .describe('Default: `gwctl`.'),
  tags: z.array(sessionTag).max(50).default([]),
});

const aws = withRule(
  object('AWS request signing; the credentials of the environment unless there are keys.', {
    accessKeyId: z.string().min(1).optional(),
    secretAccessKey: secretText.optional(),
    sessionToken: secretText.optional(),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/, { error: 'expected a region such as eu-west-1' })
      .optional()
      .describe('Default: that of the environment (AWS_REGION).'),
    serviceName: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: 'expected the signing name of a service, such as execute-api' })
      .optional()
      .describe('Signing name of the service. Default: bedrock.'),
    assumeRole: assumeRole.optional(),
  }),
  (keys, add) => {
    const { accessKeyId: id, secretAccessKey: key } = keys;
    if ((id === undefined) !== (key === undefined))
      add('`accessKeyId` and `secretAccessKey` go together', {
        at: id === undefined ? 'accessKeyId' : 'secretAccessKey',
        code: 'GW_CONFIG_MISSING',
      });
    if (keys['sessionToken'] !== undefined && id === undefined)
      add('`sessionToken` goes with `accessKeyId` and `secretAccessKey`', {
        at: 'sessionToken',
        code: 'GW_CONFIG_CONFLICT',
      });
    if (keys['assumeRole'] !== undefined && id !== undefined)
      add('a role is taken on with the credentials of the environment, not with keys of the file', {
        at: 'assumeRole',
        code: 'GW_CONFIG_CONFLICT',
      });
  },
);

const identityId = exactlyOne(
  object('Exactly one key.', {
    clientId: z.string().min(1).optional(),
    objectId: z.string().min(1).optional(),
    resourceId: z.string().min(1).optional(),
  }),
  'a user-assigned identity',
  ['clientId', 'objectId', 'resourceId'],
);

const azureCredential = exactlyOne(
  object('A credential of its own; exactly one key.', {
    clientSecret: object('A client secret.', {
      tenant_id: z.string().regex(/^[A-Za-z0-9.-]{1,256}$/, { error: 'expected the id or a domain of a tenant' }),
      client_id: z.string().min(1),
      client_secret: secretText,
    }).optional(),
    managedIdentity: object('A managed identity.', { userAssignedIdentity: identityId.optional() }).optional(),
    workloadIdentity: object('The workload identity of the cluster.', {}).optional(),
  }),
  'an Azure credential',
  ['clientSecret', 'managedIdentity', 'workloadIdentity'],
);

const azure = exactlyOne(
  object('Azure credentials; exactly one key.', {
    explicitConfig: azureCredential.optional(),
    developerImplicit: object(
      'Who is logged in with the tools of developers: `az`, else `azd`, found in `PATH`.',
      {},
    ).optional(),
    implicit: object(
      'What the environment offers: a client secret, a workload identity, a managed identity, the tools of developers.',
      {},
    ).optional(),
  }),
  'Azure credentials',
  ['explicitConfig', 'developerImplicit', 'implicit'],
);

/** Claims that the gateway sets itself. */
const RESERVED_CLAIMS = ['iat', 'exp', 'nbf'];

const jwtSign = object('Signs a short-lived token per request.', {
  signingKey: secretText,
  alg: signAlgorithm,
  kid: z.string().optional(),
  claims: z
    .record(z.string(), z.unknown())
    .superRefine((claims, context) => {
      for (const name of RESERVED_CLAIMS.filter((each) => claims[each] !== undefined))
        context.addIssue({ code: 'custom', path: [name], message: `${name} is set by the gateway` });
    })
    .default({})
    .describe('Fixed claims; iat, exp and nbf are set by the gateway.'),
  ttl: duration.refine((ms) => ms >= 1000, { error: 'expected a duration of at least 1s' }).prefault('300s'),
  location,
});

/** Keys of the methods of client authentication: those that each needs, and those that it may have. */
const CLIENT_AUTH_KEYS = {
  clientSecretBasic: { needs: ['clientSecret'], may: [] },
  clientSecretPost: { needs: [], may: ['clientSecret'] },
  privateKeyJwt: {
    needs: ['signingKey', 'assertionAudience'],
    may: ['alg', 'kid', 'certificate', 'certificateHeader'],
  },
} as const;

const clientAuth = withRule(
  object('How the gateway shows itself to a token endpoint.', {
    method: z.enum(['clientSecretBasic', 'clientSecretPost', 'privateKeyJwt']).default('clientSecretBasic'),
    clientId: z.string().min(1),
    clientSecret: secretText.optional(),
    signingKey: secretText.optional(),
    assertionAudience: z.string().min(1).optional(),
    alg: signAlgorithm,
    kid: z.string().optional(),
    certificate: secretText.optional().describe('Certificate chain of the signing key, in PEM form.'),
    certificateHeader: z.enum(['x5c', 'x5t#S256']).optional().describe('How the certificate stands in the assertion.'),
  }),
  (keys, add) => {
    const method = keys['method'] ?? 'clientSecretBasic';
    const rules = Object.entries(CLIENT_AUTH_KEYS).find(([name]) => name === method)?.[1];
    if (rules === undefined) return;
    for (const key of rules.needs)
      if (keys[key] === undefined)
        add(`\`${String(method)}\` needs \`${key}\``, { at: key, code: 'GW_CONFIG_MISSING' });
    const known: readonly string[] = ['method', 'clientId', ...rules.needs, ...rules.may];
    for (const key of Object.keys(keys))
      if (!known.includes(key) && keys[key] !== undefined && key !== 'alg')
        add(`\`${key}\` has no meaning with \`${String(method)}\``, { at: key, code: 'GW_CONFIG_CONFLICT' });
    if ((keys['certificate'] === undefined) !== (keys['certificateHeader'] === undefined))
      add('`certificate` and `certificateHeader` go together', { at: 'certificate', code: 'GW_CONFIG_MISSING' });
  },
);

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

/** An absolute URI without a fragment that names a kind of token (RFC 8693 section 3). */
const tokenType = z
  .string()
  .max(1024)
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:[^\s#]+$/, {
    error: 'expected a token type such as urn:ietf:params:oauth:token-type:jwt',
  })
  .refine((type) => type !== ID_JAG, { error: `${ID_JAG} is what \`crossAppAccess\` uses` });

const tokenPath = z
  .string()
  .max(2048)
  .regex(/^\/[^\s#]*$/, { error: 'expected a path that begins with /' });

const subjectToken = object('Token that is exchanged. Default: the bearer token of the request.', {
  source: credentialLocation.optional(),
  tokenType: tokenType
    .optional()
    .describe('Default: an access token; for `crossAppAccess` an ID token. Not sent with `jwtBearer`.'),
});

const tokenCache = object('Remembers tokens until they, or the tokens that they were made from, end.', {
  maxEntries: z.int().min(0).default(8192).describe('0 remembers none.'),
  defaultTtl: duration.prefault('300s').describe('For tokens that come without `expires_in`.'),
});

/** Parameters of a token request that the gateway sets itself. */
const OAUTH_PARAMETERS = new Set([
  'grant_type',
  'subject_token',
  'subject_token_type',
  'actor_token',
  'actor_token_type',
  'requested_token_type',
  'assertion',
  'audience',
  'scope',
  'resource',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
]);

const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';

const actorToken = withRule(
  object('Token of the one who acts for the subject.', {
    source: credentialLocation,
    tokenType: tokenType.optional().describe('Default: an access token.'),
    enforceMayAct: z
      .boolean()
      .default(false)
      .describe('Refuses with 403 unless the claim `may_act` of the subject names the actor; for tokens of type jwt.'),
  }),
  (keys, add) => {
    if (keys['enforceMayAct'] === true && keys['tokenType'] !== JWT_TYPE)
      add(`\`enforceMayAct\` reads claims, so the actor needs \`tokenType: ${JWT_TYPE}\``, {
        at: 'enforceMayAct',
        code: 'GW_CONFIG_CONFLICT',
      });
  },
);

/** Of RFC 8693; the grant of RFC 7523 has no place for them. */
const EXCHANGE_ONLY = ['actorToken', 'requestedTokenType'];

function tokenExchangeRule(keys: Record<string, unknown>, add: AddIssue): void {
  policyServiceRule(keys, add);
  if (keys['grantType'] !== 'jwtBearer') return;
  for (const key of EXCHANGE_ONLY.filter((each) => keys[each] !== undefined))
    add(`\`${key}\` has no meaning with \`grantType: jwtBearer\``, { at: key, code: 'GW_CONFIG_CONFLICT' });
}

function oauthTokenExchange(connection: z.ZodType) {
  return withRule(
    object('Trades the token of the caller for another at a token endpoint (RFC 8693 or RFC 7523).', {
      ...policyServiceShape(connection),
      path: tokenPath.default('/').describe('Path of the token endpoint.'),
      grantType: z
        .enum(['tokenExchange', 'jwtBearer'])
        .default('tokenExchange')
        .describe('`tokenExchange` sends a subject token (RFC 8693), `jwtBearer` sends it as assertion (RFC 7523).'),
      subjectToken: subjectToken.optional(),
      actorToken: actorToken.optional(),
      audiences: strings.describe('One parameter `audience` each.'),
      scopes: strings.describe('One parameter `scope` for all.'),
      resources: strings.describe('One parameter `resource` each.'),
      requestedTokenType: tokenType.optional().describe('What is asked for; not sent by default.'),
      clientAuth: clientAuth.optional(),
      additionalParams: celMap('Further parameters of the request, by expression.')
        .superRefine((params, context) => {
          for (const name of Object.keys(params).filter((each) => OAUTH_PARAMETERS.has(each)))
            context.addIssue({ code: 'custom', path: [name], message: `${name} is set by the gateway` });
        })
        .optional(),
      authorizationLocation: location.describe(
        'Where the new token goes. Default: the authorization header, after `Bearer `.',
      ),
      cache: tokenCache.optional(),
    }),
    tokenExchangeRule,
  );
}

function crossAppAccess(connection: z.ZodType) {
  const endpoint = withRule(
    object('A token endpoint.', {
      ...policyServiceShape(connection),
      path: tokenPath.default('/').describe('Path of the token endpoint.'),
      clientAuth,
    }),
    policyServiceRule,
  );
  return object(
    "Trades the caller's identity for a token of another application: the identity provider gives an assertion, which that application's authorization server takes.",
    {
      identityProvider: endpoint,
      resourceAuthorizationServer: endpoint,
      audience: z.string().min(1).describe('The other authorization server, as the identity provider knows it.'),
      resources: strings.describe('One parameter `resource` each, for the assertion.'),
      scopes: strings.describe('Asked for at both endpoints.'),
      accessTokenScopes: z
        .array(z.string().min(1))
        .optional()
        .describe('Asked for at the other authorization server instead of `scopes`; an empty list asks for none.'),
      subjectToken: subjectToken.optional(),
      cache: tokenCache.optional(),
    },
  );
}

const MAIN_KINDS = ['key', 'passthrough', 'gcp', 'aws', 'azure', 'jwtSign', 'oauthTokenExchange', 'crossAppAccess'];

/** `backendAuth`: credentials that the gateway shows to the backend. */
export function backendAuth(connection: z.ZodType) {
  const settings = withRule(
    object('Credentials shown to the backend; at most one of the main kinds, and `credentials` beside it.', {
      key: fixedKey.optional(),
      passthrough: object('Puts the validated token of the caller back.', { location }).optional(),
      gcp: gcp.optional(),
      aws: aws.optional(),
      azure: azure.optional(),
      jwtSign: jwtSign.optional(),
      oauthTokenExchange: oauthTokenExchange(connection).optional(),
      crossAppAccess: crossAppAccess(connection).optional(),
      credentials: z
        .array(object('A further credential.', { location: credentialTarget, key: secretText }))
        .max(8)
        .optional(),
    }),
    (keys, add) => {
      const kinds = MAIN_KINDS.filter((kind) => keys[kind] !== undefined);
      if (kinds.length > 1)
        add(`\`backendAuth\` takes only one of ${kinds.map((kind) => `\`${kind}\``).join(', ')}`, {
          at: kinds[1],
          code: 'GW_CONFIG_CONFLICT',
        });
      if (kinds.length === 0 && keys['credentials'] === undefined)
        add('`backendAuth` needs a kind of credential, or `credentials`', { code: 'GW_CONFIG_MISSING' });
    },
  );
  return z.union([z.enum(['copilot']), settings]).meta({
    id: 'BackendAuth',
    description: 'Credentials that the gateway shows to the backend.',
  });
}

export type BackendAuthSpec = z.output<ReturnType<typeof backendAuth>>;
export type BackendAuthSettings = Exclude<BackendAuthSpec, string>;
export type ClientAuthSpec = z.output<typeof clientAuth>;
export type AwsSpec = z.output<typeof aws>;
export type AzureSpec = z.output<typeof azure>;
