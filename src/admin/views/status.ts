import { asArray, asNumber, asObject, asText, isObject, textsOf, type JsonObject } from '../protocol/lenient.ts';

/** Which configuration is live, which was rejected last, and how the two differ. */
export interface ConfigStatus {
  readonly live: { readonly revision: string; readonly since: string; readonly source: string };
  readonly rejected: {
    readonly revision: string;
    readonly at: string;
    readonly errors: readonly StatusProblem[];
  } | null;
  readonly diff: readonly StatusChange[];
  /** Settings that a reload cannot change. */
  readonly restartNeeded: readonly string[];
}

export interface StatusProblem {
  readonly message: string;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

export interface StatusChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export function decodeConfigStatus(value: JsonObject): ConfigStatus {
  const live = asObject(value['live']);
  const rejected = value['rejected'];
  return {
    live: {
      revision: asText(live['revision']) ?? '',
      since: asText(live['since']) ?? '',
      source: asText(live['source']) ?? '',
    },
    rejected: isObject(rejected)
      ? {
          revision: asText(rejected['revision']) ?? '',
          at: asText(rejected['at']) ?? '',
          errors: asArray(rejected['errors']).map(problemOf),
        }
      : null,
    diff: asArray(value['diff']).map((item) => {
      const change = asObject(item);
      return { path: asText(change['path']) ?? '', before: change['before'], after: change['after'] };
    }),
    restartNeeded: textsOf(value['restartNeeded']),
  };
}

function problemOf(value: unknown): StatusProblem {
  const problem = asObject(value);
  return {
    message: asText(problem['message']) ?? asText(value) ?? '',
    path: asText(problem['path']),
    line: asNumber(problem['line']),
    column: asNumber(problem['column']),
  };
}
