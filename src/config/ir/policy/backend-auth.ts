import type { Secret } from '../../../shared/secret.ts';
import type { CredentialSource, CredentialTarget } from './credential-location.ts';
import type { ServiceRef } from './policy-service.ts';

/** Credentials that the gateway shows to a backend: at most one main kind, and fixed ones beside it. */
export interface BackendAuth {
  readonly main?: BackendAuthKind | undefined;
  /** The configuration says where the main kind goes; otherwise services may want it elsewhere. */
  readonly located?: true | undefined;
  /** Written after the main kind, in order. */
  readonly credentials: readonly FixedCredential[];
}

export interface FixedCredential {
  readonly location: CredentialTarget;
  readonly key: Secret;
}

export type BackendAuthKind =
  | { readonly kind: 'key'; readonly location: CredentialTarget; readonly key: Secret }
  | { readonly kind: 'passthrough'; readonly location: CredentialTarget }
  | JwtSign
  | AwsAuth
  | AzureAuth
  | GcpAuth
  /** Of whoever is logged in to GitHub Copilot. */
  | { readonly kind: 'copilot' }
  | OAuthTokenExchange
  | CrossAppAccess;

export type SigningAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384';

/** A private key in PEM form, checked to fit its algorithm. */
export interface SigningKey {
  readonly pem: Secret;
  readonly alg: SigningAlgorithm;
  readonly kid?: string | undefined;
}

export interface JwtSign {
  readonly kind: 'jwtSign';
  readonly signingKey: SigningKey;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly ttlMs: number;
  readonly location: CredentialTarget;
}

export interface AwsAuth {
  readonly kind: 'aws';
  readonly credentials: AwsCredentialSource;
  /** Undefined: the region of the environment. */
  readonly region?: string | undefined;
  readonly serviceName?: string | undefined;
}

export type AwsCredentialSource =
  | {
      readonly kind: 'static';
      readonly accessKeyId: string;
      readonly secretAccessKey: Secret;
      readonly sessionToken?: Secret | undefined;
    }
  | { readonly kind: 'ambient' }
  | AwsAssumeRole;

/** A role that is taken on with the credentials of the environment. */
export interface AwsAssumeRole {
  readonly kind: 'assumeRole';
  readonly roleArn: string;
  readonly sessionName?: TextOrExpression | undefined;
  readonly tags: readonly { readonly key: string; readonly value: TextOrExpression }[];
}

export type TextOrExpression =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'expression'; readonly expression: string };

export interface AzureAuth {
  readonly kind: 'azure';
  readonly source: AzureCredentialSource;
}

export type AzureCredentialSource =
  | { readonly kind: 'clientSecret'; readonly tenantId: string; readonly clientId: string; readonly secret: Secret }
  | { readonly kind: 'managedIdentity'; readonly identity?: AzureIdentity | undefined }
  | { readonly kind: 'workloadIdentity' }
  | { readonly kind: 'developerTools' }
  /** The environment, then workload identity, then managed identity, then the tools of developers. */
  | { readonly kind: 'implicit' };

export interface AzureIdentity {
  readonly kind: 'clientId' | 'objectId' | 'resourceId';
  readonly value: string;
}

export interface GcpAuth {
  readonly kind: 'gcp';
  readonly token:
    | { readonly kind: 'accessToken' }
    | { readonly kind: 'idToken'; readonly audience?: string | undefined };
  /** Credentials as JSON; undefined takes those of the environment. */
  readonly credential?: Secret | undefined;
}

/** Where a token endpoint is, and how the gateway shows itself there. */
export interface TokenEndpoint {
  readonly service: ServiceRef;
  readonly path: string;
  readonly clientAuth?: OAuthClientAuth | undefined;
}

export type OAuthClientAuth =
  | { readonly kind: 'clientSecretBasic'; readonly clientId: string; readonly clientSecret: Secret }
  | { readonly kind: 'clientSecretPost'; readonly clientId: string; readonly clientSecret?: Secret | undefined }
  | {
      readonly kind: 'privateKeyJwt';
      readonly clientId: string;
      readonly signingKey: SigningKey;
      readonly assertionAudience: string;
      /** Goes into the header of the assertion; `chain` is base64 of DER, the key's own first. */
      readonly certificate?: { readonly header: 'x5c' | 'x5t#S256'; readonly chain: readonly string[] } | undefined;
    };

export interface TokenSource {
  readonly source: CredentialSource;
  /** A URN or another absolute URI. */
  readonly tokenType: string;
}

export interface TokenCacheSettings {
  /** 0 turns it off. */
  readonly maxEntries: number;
  readonly defaultTtlMs: number;
}

export interface OAuthTokenExchange {
  readonly kind: 'oauthTokenExchange';
  readonly endpoint: TokenEndpoint;
  readonly grantType: 'tokenExchange' | 'jwtBearer';
  readonly subject: TokenSource;
  readonly actor?: (TokenSource & { readonly enforceMayAct: boolean }) | undefined;
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly requestedTokenType?: string | undefined;
  /** Expressions by name, sorted by name. */
  readonly additionalParams: readonly (readonly [name: string, expression: string])[];
  readonly location: CredentialTarget;
  readonly cache: TokenCacheSettings;
}

export interface CrossAppAccess {
  readonly kind: 'crossAppAccess';
  readonly identityProvider: TokenEndpoint;
  readonly resourceAuthorizationServer: TokenEndpoint;
  readonly audience: string;
  readonly resources: readonly string[];
  readonly scopes: readonly string[];
  /** Undefined: `scopes`. */
  readonly accessTokenScopes?: readonly string[] | undefined;
  readonly subject: TokenSource;
  readonly cache: TokenCacheSettings;
}
