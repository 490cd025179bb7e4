/** Rules over expressions. Those of all levels count together. */
export interface Authorization {
  readonly rules: readonly AuthorizationRule[];
}

export interface AuthorizationRule {
  readonly mode: 'allow' | 'deny' | 'require';
  readonly expression: string;
  /** The resource that says so; filled in when the rules of several levels are put together. */
  readonly source?: string | undefined;
}
