import type { AccessLog, FieldChanges, OtlpReceiver, Tracing } from '../../src/config/ir/index.ts';

type Shown = Record<string, unknown>;

/** The access log as it is written in the file; undefined when it is the default one. */
export function shownAccessLog({ filter, add, remove }: AccessLog): Shown | undefined {
  return filter === undefined && add.length === 0 && remove.length === 0
    ? undefined
    : { filter, ...fields({ add, remove }) };
}

export function shownOtlpLog({ otlp }: AccessLog): Shown | undefined {
  return otlp && { ...receiver(otlp.receiver), filter: otlp.filter, fields: fields(otlp) };
}

export function shownTracing(tracing: Tracing | undefined): Shown | undefined {
  if (tracing === undefined) return undefined;
  const { attributes, resources, randomSampling, clientSampling, filter } = tracing;
  return {
    ...(tracing.receiver && receiver(tracing.receiver)),
    attributes: Object.fromEntries(attributes.add),
    remove: attributes.remove,
    resources: Object.fromEntries(resources),
    randomSampling,
    clientSampling,
    filter,
  };
}

/** Secrets among the headers hide themselves. */
function receiver({ service, protocol, path, headers }: OtlpReceiver): Shown {
  return {
    target: service.target,
    policies: service.policies,
    protocol,
    ...(protocol === 'http' ? { path } : {}),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  };
}

function fields({ add, remove }: FieldChanges): Shown {
  return { add: Object.fromEntries(add), remove };
}
