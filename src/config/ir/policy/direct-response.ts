import type { Choice } from './conditional.ts';

export type DirectResponse = Choice<DirectAnswer>;

export interface DirectAnswer {
  readonly status: number;
  readonly body: DirectBody;
  /** Values are expressions. */
  readonly headers: readonly (readonly [name: string, expression: string])[];
}

export type DirectBody =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'expression'; readonly expression: string };
