/** Where a request carries a credential, and where the gateway may write one. */
export type CredentialTarget =
  /** `name` is lower case; `prefix` (`Bearer `, or empty) stands before the credential, compared without case. */
  | { readonly kind: 'header'; readonly name: string; readonly prefix: string }
  | { readonly kind: 'queryParameter'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string };

/** Where a credential is read from. An expression only reads. */
export type CredentialLocation = CredentialTarget | { readonly kind: 'expression'; readonly expression: string };
