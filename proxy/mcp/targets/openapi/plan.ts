import type { JsonObject } from '../../../../src/shared/json.ts';

/** How a value stands in a query, a path or a header (OpenAPI 3.1 section 4.8.12). */
export interface ParameterPlan {
  readonly name: string;
  readonly required: boolean;
  /** Lists repeat the key; else they are one value, put together with `separator`. */
  readonly explode: boolean;
  readonly separator: string;
  /** Objects are written as `name[member]`. */
  readonly deep: boolean;
}

export type BodyPlan = {
  readonly contentType: string;
  readonly required: boolean;
  /** How the argument becomes bytes: as JSON, from base64, as the text that it is, as fields of a form. */
  readonly form: 'json' | 'base64' | 'text' | 'fields';
};

/** What one tool calls; literal parts of the path are escaped already. */
export interface CallPlan {
  readonly method: string;
  /** Text, parameter, text, …, beginning and ending with text. */
  readonly path: readonly string[];
  readonly query: readonly ParameterPlan[];
  readonly headers: readonly ParameterPlan[];
  readonly body: BodyPlan | null;
}

/** One operation as a tool. */
export interface OpenApiTool {
  /** As `tools/list` tells it. */
  readonly definition: JsonObject & { readonly name: string };
  readonly plan: CallPlan;
}

/** A document as tools. */
export interface CompiledDocument {
  readonly title: string;
  readonly version: string;
  readonly description: string | undefined;
  readonly tools: readonly JsonObject[];
  readonly plans: ReadonlyMap<string, CallPlan>;
  /** Operations that no tool could be made of, and why; for people. */
  readonly left: readonly string[];
}
