import type { JsonObject } from '../../../../src/shared/json.ts';

export type Style =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  /** `name[member]` */
  | 'deepObject';

/** How a value stands in a query, a path, a header or a form (OpenAPI 3.1 section 4.8.12). */
export interface ParameterPlan {
  readonly name: string;
  readonly required: boolean;
  readonly style: Style;
  /** Parts of a value stand each for itself, else they are one value. */
  readonly explode: boolean;
}

/** A field of a form that the document says more of. */
export interface FieldPlan {
  /** Null for the usual one: lists repeat the name, objects are JSON. */
  readonly style: ParameterPlan | null;
  /** Of a part; null for the usual one. */
  readonly contentType: string | null;
  /** The argument is in base64. */
  readonly bytes: boolean;
}

export type BodyPlan = {
  readonly contentType: string;
  readonly required: boolean;
  /** How the argument becomes bytes: as JSON, from base64, as the text that it is, as fields of a form, as parts. */
  readonly form: 'json' | 'base64' | 'text' | 'fields' | 'parts';
  /** Of a form. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
};

/** What one tool calls; literal parts of the path are escaped already. */
export interface CallPlan {
  readonly method: string;
  /** Text, parameter, text, …, beginning and ending with text. */
  readonly path: readonly (string | ParameterPlan)[];
  readonly query: readonly ParameterPlan[];
  readonly headers: readonly ParameterPlan[];
  readonly body: BodyPlan | null;
  /** What answers may be. */
  readonly accept: string;
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
