export type Delay =
  | { readonly kind: 'fixed'; readonly durationMs: number }
  /** A duration, or a number of milliseconds. */
  | { readonly kind: 'expression'; readonly expression: string };
