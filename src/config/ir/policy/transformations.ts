import type { Choice } from './conditional.ts';

/** Changes to requests and responses by expressions; chosen on the request for both. */
export type Transformations = Choice<TransformationPair>;

export interface TransformationPair {
  readonly request?: Transformation | undefined;
  readonly response?: Transformation | undefined;
}

/** Applied in this order. Values are expressions. */
export interface Transformation {
  readonly metadata: readonly (readonly [name: string, expression: string])[];
  readonly replace?: string | undefined;
  readonly add: readonly (readonly [header: string, expression: string])[];
  readonly set: readonly (readonly [header: string, expression: string])[];
  readonly remove: readonly string[];
  readonly body?: string | undefined;
}
