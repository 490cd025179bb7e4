import { z } from 'zod';
import { object } from '../build.ts';
import { secret } from '../marks.ts';
import { cel, celMap, duration, secretText } from '../scalars.ts';
import { credentialLocation } from './credential-location.ts';
import { policyServiceShape } from './policy-service.ts';

const strings = z.array(z.string().min(1)).default([]);
const signAlgorithm = z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384']).default('RS256');
const location = credentialLocation.optional();

const key = z
  .union([secretText, object('A key and where it goes.', { value: secretText, location })])
  .describe('A fixed key. Default place: the authorization header, after `Bearer `.');

const gcp = object('Google Cloud credentials.', {
  type: z.enum(['idToken', 'accessToken']).optional(),
  audience: z.string().optional(),
  credential: secretText.optional(),
});

const aws = object('AWS request signing.', {
  accessKeyId: z.string().optional(),
  secretAccessKey: secretText.optional(),
  sessionToken: secretText.optional(),
  region: z.string().optional(),
  serviceName: z.string().optional(),
  assumeRole: object('A role to take on.', {
    roleArn: z.string().regex(/^arn:aws[a-z-]*:iam::[0-9]{12}:role\/.+$/),
    sessionName: z.union([z.string().min(1), object('By expression.', { expression: cel })]).optional(),
    tags: z
      .array(
        object('A session tag.', { key: z.string().min(1), value: z.string().optional(), expression: cel.optional() }),
      )
      .default([]),
  }).optional(),
});

const azure = object('Azure credentials; exactly one key.', {
  explicitConfig: object('A credential of its own; exactly one key.', {
    clientSecret: object('A client secret.', {
      tenant_id: z.string(),
      client_id: z.string(),
      client_secret: secret(z.string()),
    }).optional(),
    managedIdentity: object('A managed identity.', {
      userAssignedIdentity: object('Exactly one key.', {
        clientId: z.string().optional(),
        objectId: z.string().optional(),
        resourceId: z.string().optional(),
      }).optional(),
    }).optional(),
    workloadIdentity: object('The workload identity of the cluster.', {}).optional(),
  }).optional(),
  developerImplicit: object('What the developer tools are logged in with.', {}).optional(),
  implicit: object('What the environment offers.', {}).optional(),
});

const jwtSign = object('Signs a short-lived token per request.', {
  signingKey: secretText,
  alg: signAlgorithm,
  kid: z.string().optional(),
  claims: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Fixed claims; iat, exp and nbf are set by the gateway.'),
  ttl: duration.prefault('300s'),
  location,
});

const clientAuth = object('How the gateway shows itself to a token endpoint.', {
  method: z.enum(['clientSecretBasic', 'clientSecretPost', 'privateKeyJwt']).default('clientSecretBasic'),
  clientId: z.string().min(1),
  clientSecret: secretText.optional(),
  signingKey: secretText.optional(),
  assertionAudience: z.string().optional(),
  alg: signAlgorithm,
  kid: z.string().optional(),
  certificate: secretText.optional(),
  certificateHeader: z.enum(['x5c', 'x5t#S256']).optional(),
});

const subjectToken = object('Token that is exchanged. Default: the bearer token of the request.', {
  source: credentialLocation.optional(),
  tokenType: z.string().optional(),
});

const tokenCache = object('Remembers tokens.', {
  maxEntries: z.int().min(0).default(8192),
  defaultTtl: duration.prefault('300s'),
});

function oauthTokenExchange(connection: z.ZodType) {
  return object('Exchanges the token of the caller (RFC 8693) or an assertion (RFC 7523).', {
    ...policyServiceShape(connection),
    path: z.string().default('/'),
    grantType: z.enum(['tokenExchange', 'jwtBearer']).optional(),
    subjectToken: subjectToken.optional(),
    actorToken: object('Token of the one who acts.', {
      source: credentialLocation,
      tokenType: z.string().optional(),
      enforceMayAct: z.boolean().default(false),
    }).optional(),
    audiences: strings,
    scopes: strings,
    resources: strings,
    requestedTokenType: z.string().optional(),
    clientAuth: clientAuth.optional(),
    additionalParams: celMap('Further parameters.').optional(),
    authorizationLocation: location,
    cache: tokenCache.optional(),
  });
}

function crossAppAccess(connection: z.ZodType) {
  const endpoint = object('A token endpoint.', {
    ...policyServiceShape(connection),
    path: z.string().optional(),
    clientAuth,
  });
  return object('Access across applications by an identity assertion.', {
    identityProvider: endpoint,
    resourceAuthorizationServer: endpoint,
    audience: z.string().min(1),
    resources: strings,
    scopes: strings,
    accessTokenScopes: z.array(z.string()).optional(),
    subjectToken: subjectToken.optional(),
    cache: tokenCache.optional(),
  });
}

/** `backendAuth`: credentials that the gateway shows to the backend. */
export function backendAuth(connection: z.ZodType) {
  const settings = object(
    'Credentials shown to the backend; at most one of the main kinds, and `credentials` beside it.',
    {
      key: key.optional(),
      passthrough: object('Puts the validated token of the caller back.', { location }).optional(),
      gcp: gcp.optional(),
      aws: aws.optional(),
      azure: azure.optional(),
      jwtSign: jwtSign.optional(),
      oauthTokenExchange: oauthTokenExchange(connection).optional(),
      crossAppAccess: crossAppAccess(connection).optional(),
      credentials: z
        .array(object('A further credential.', { location: credentialLocation, key: secretText }))
        .max(8)
        .optional(),
    },
  );
  return z
    .union([z.enum(['copilot']), settings])
    .meta({ id: 'BackendAuth', description: 'Credentials that the gateway shows to the backend.' });
}
