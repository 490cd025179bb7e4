/** Where a request carries a credential, and where the gateway may write one. */
export type CredentialTarget =
  /** `name` is lower case; `prefix` (`Bearer `, or empty) stands before the credential, compared without case. */
  | { readonly kind: 'header'; readonly name: string; readonly prefix: string }
  | { readonly kind: 'queryParameter'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string };

/** Where the file says that a credential is read from. An expression only reads. */
export type CredentialSource = CredentialTarget | { readonly kind: 'expression'; readonly expression: string };

/** Where a credential is read from; of several places, the first that has one. */
export type CredentialLocation =
  | CredentialSource
  | { readonly kind: 'anyOf'; readonly targets: readonly CredentialTarget[] };
