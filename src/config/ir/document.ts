/** A public key as JSON Web Key: only the members that verifying needs. */
export interface PublicJwk {
  readonly kid: string;
  readonly kty: 'RSA' | 'EC' | 'OKP';
  /** The only algorithm that the key may be used with; any that fits the key when absent. */
  readonly alg?: string | undefined;
  readonly crv?: string | undefined;
  readonly n?: string | undefined;
  readonly e?: string | undefined;
  readonly x?: string | undefined;
  readonly y?: string | undefined;
}

/** Keys that signatures are verified with: written in the configuration, or fetched by the control thread. */
export type KeySetSource = { readonly kind: 'inline'; readonly keys: readonly PublicJwk[] } | RemoteKeySet;

export interface RemoteKeySet {
  readonly kind: 'remote';
  readonly content: 'keySet';
  readonly url: string;
  /** Of the issuer; tell where the keys are when none are at `url`, which only follows from the kind of the provider. */
  readonly metadata?: { readonly url: string; readonly issuer: string } | undefined;
}

export interface RemoteDiscovery {
  readonly kind: 'remote';
  readonly content: 'discovery';
  readonly url: string;
  /** The document has to name this issuer. */
  readonly issuer: string;
}

/** What the control thread fetches, keeps fresh and hands to the data threads. */
export type RemoteDocument = RemoteKeySet | RemoteDiscovery | RemoteOpenApi;

/** A description of operations of an HTTP service. */
export interface RemoteOpenApi {
  readonly kind: 'remote';
  readonly content: 'openApi';
  readonly url: string;
  /** The configuration is live without it too, and it is used as soon as it comes. */
  readonly optional?: true | undefined;
}
