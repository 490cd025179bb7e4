import type {
  Choice,
  Delay,
  DirectAnswer,
  RateLimitBucket,
  Retry,
  RoutePolicies,
  Transformation,
  Transformations,
} from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { shownChoice } from './service-policies.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Policies of a route that limit, delay, repeat and answer, in the words of the configuration. */
export function controlPolicies(policies: RoutePolicies): [string, unknown][] {
  const { localRateLimit, retry, delay, directResponse } = policies;
  return [
    ['localRateLimit', localRateLimit && rateLimit(localRateLimit)],
    ['retry', retry && shownRetry(retry)],
    ['delay', delay && shownDelay(delay)],
    ['directResponse', directResponse && shownChoice(directResponse, answer)],
  ];
}

export function shownTransformations(policy: Transformations): Shown {
  return shownChoice(policy, ({ request, response }) => ({
    request: request && transformation(request),
    response: response && transformation(response),
  }));
}

function rateLimit({ entries }: Choice<readonly RateLimitBucket[]>): unknown {
  const [first] = entries;
  if (first !== undefined && entries.length === 1 && first.condition === undefined) return first.settings.map(bucket);
  return {
    conditional: entries.map(({ condition, settings }) => ({
      condition,
      ...Object.assign({}, ...settings.map(bucket)),
    })),
  };
}

function bucket({ fillIntervalMs, ...rest }: RateLimitBucket): Shown {
  return { ...rest, fillInterval: formatDuration(fillIntervalMs), type: 'requests' };
}

function shownRetry({ attempts, backoffMs, codes, precondition, condition }: Retry): Shown {
  return { attempts, backoff: formatDuration(backoffMs), codes, precondition, condition };
}

function shownDelay(delay: Delay): Shown {
  return { duration: delay.kind === 'fixed' ? formatDuration(delay.durationMs) : delay.expression };
}

function answer({ status, body, headers }: DirectAnswer): Shown {
  const shown =
    body.kind === 'bytes' ? { body: Buffer.from(body.bytes).toString() } : { bodyExpression: body.expression };
  return { status, ...shown, ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }) };
}

function transformation({ metadata, add, set, ...rest }: Transformation): Shown {
  return {
    ...rest,
    metadata: Object.fromEntries(metadata),
    add: Object.fromEntries(add),
    set: Object.fromEntries(set),
  };
}
