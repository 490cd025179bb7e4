import type { Variable } from '../../../src/cel/compile/host.ts';
import { RecordMap } from '../../../src/cel/value/map.ts';
import { durationOfMs } from '../../../src/cel/value/time.ts';
import type { Value } from '../../../src/cel/value/value.ts';
import type { Progress } from '../../exchange/progress.ts';
import type { EvalContext } from '../contract.ts';
import { view, type Reader } from './view.ts';

/** `proxy`: where in the gateway the request is, and how long the parts of its way took. */
export const proxyVariable: Variable<EvalContext> = view(
  {
    bind: ({ connection }) => connection.bind,
    gateway: onProgress(({ gatewayName, gatewayNamespace }) =>
      gatewayName === null ? undefined : new RecordMap({ name: gatewayName, namespace: gatewayNamespace ?? undefined }),
    ),
    listener: onProgress(({ listenerName }) =>
      listenerName === null ? undefined : new RecordMap({ name: listenerName }),
    ),
    route: onProgress(routeOf),
    requestProcessingDuration: ({ startedAt, progress }) => between(startedAt, progress?.upstreamStartedAt),
    upstreamDuration: onProgress((progress) => between(progress.upstreamStartedAt, progress.upstreamHeadAt)),
    responseProcessingDuration: onProgress((progress) => between(progress.upstreamHeadAt, progress.respondedAt)),
  },
  { present: () => true },
);

function onProgress(read: (progress: Progress) => Value | undefined): Reader {
  return ({ progress }) => (progress === null ? undefined : read(progress));
}

function routeOf({ route }: Progress): Value | undefined {
  if (route === null) return undefined;
  return new RecordMap({ name: route.name, namespace: route.namespace, kind: 'HTTPRoute', rule: route.ruleName });
}

/** Both on the scale of `performance.now()`. */
function between(from: number | null | undefined, to: number | null | undefined): Value | undefined {
  return typeof from === 'number' && typeof to === 'number' ? durationOfMs(Math.max(0, to - from)) : undefined;
}

/** `backend`: the one that was picked. */
export const backendVariable: Variable<EvalContext> = view(
  {
    name: ({ progress }) => progress?.backendFacts?.name,
    type: ({ progress }) => progress?.backendFacts?.type,
    protocol: ({ progress }) => progress?.backendFacts?.protocol,
  },
  { present: ({ progress }) => (progress?.backendFacts ?? null) !== null },
);
