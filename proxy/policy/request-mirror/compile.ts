import type { RequestMirror, SimpleBackendRef } from '../../../src/config/ir/index.ts';
import type { Random } from '../../routing/weighted.ts';

/** One place that copies of requests go to; the engine sends them. */
export interface MirrorPlan {
  readonly backend: SimpleBackendRef;
  /** Draws whether this request is copied. */
  readonly shouldMirror: (random: Random) => boolean;
  /** For traces: what the plan is and who says so. */
  readonly details: string;
}

export function mirrorPlans(specs: readonly RequestMirror[] | undefined, source: string): readonly MirrorPlan[] {
  return (specs ?? []).map(({ backend, percentage }) => ({
    backend,
    shouldMirror: (random) => percentage >= 1 || (percentage > 0 && random() < percentage),
    details: `${Number((percentage * 100).toFixed(4))}% to ${describe(backend)} (from ${source})`,
  }));
}

function describe(ref: SimpleBackendRef): string {
  switch (ref.kind) {
    case 'service':
      return `service ${ref.namespace}/${ref.hostname}:${ref.port}`;
    case 'inline':
      return ref.backend.target.kind === 'unix'
        ? `unix:${ref.backend.target.path}`
        : `${ref.backend.target.host}:${ref.backend.target.port}`;
    default:
      return `backend ${ref.backend}`;
  }
}
