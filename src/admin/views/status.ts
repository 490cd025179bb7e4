import { asArray, asNumber, asObject, asText, isObject, textsOf, type JsonObject } from '../protocol/lenient.ts';

/** Which configuration is live, which was rejected last, and how the two differ. */
export interface ConfigStatus {
  readonly live: { readonly revision: string; readonly since: string; readonly source: string };
  readonly rejected: {
    readonly revision: string;
    readonly at: string;
    readonly errors: readonly StatusProblem[];
  } | null;
  readonly diff: readonly StatusLine[];
  /** Settings that a reload cannot change. */
  readonly restartNeeded: readonly string[];
}

export interface StatusProblem {
  readonly message: string;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** A line of the difference between the live and the rejected text. */
export interface StatusLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
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
    diff: asArray(value['diff']).flatMap(linesOf),
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

/** Servers tell lines, or changes of a path with the values before and after. */
function linesOf(value: unknown): StatusLine[] {
  const line = asObject(value);
  const { kind } = line;
  const text = asText(line['text']);
  if (text !== undefined && (kind === 'same' || kind === 'added' || kind === 'removed')) return [{ kind, text }];
  const { before, after } = line;
  const path = asText(line['path']) ?? '';
  return [
    ...(before === undefined ? [] : [{ kind: 'removed' as const, text: `${path}: ${JSON.stringify(before)}` }]),
    ...(after === undefined ? [] : [{ kind: 'added' as const, text: `${path}: ${JSON.stringify(after)}` }]),
  ];
}
