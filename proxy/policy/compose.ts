import { collectRequestBody, collectResponseBody } from './body-for-expressions/collect.ts';
import type { PolicyDeps } from './contract.ts';
import type { Effective } from './effective.ts';
import type { RequestLine, ResponseLine, ResponseScope } from './line.ts';
import { notingReads, type PipelineReads } from './reads.ts';
import type { NamedResponseStep, NamedStep } from './run.ts';

/** Stands in an order where the request body is read at the latest when an expression of a later phase reads it. */
export const bodyForLater: RequestLine<object> = () => null;

export interface RequestParts<P extends object> {
  readonly effective: Effective<P>;
  readonly deps: PolicyDeps;
  /** An expression of a later phase, or of the response, reads the request body. */
  readonly readLater: boolean;
  /** What is held of the body. */
  readonly limitBytes: number;
}

/** The steps of an order; the body is collected before the first that reads it, so that refusals before cost no upload. */
export function composeRequest<P extends object>(
  lines: readonly (RequestLine<P> | typeof bodyForLater)[],
  { effective, deps: engine, readLater, limitBytes }: RequestParts<P>,
): readonly NamedStep[] {
  const steps: NamedStep[] = [];
  let collected = false;
  const collect = (): void => {
    if (!collected) steps.push(collectRequestBody({ limitBytes, deps: engine }));
    collected = true;
  };
  for (const line of lines) {
    if (line === bodyForLater) {
      if (readLater) collect();
      continue;
    }
    const { deps, reads } = notingReads(engine);
    const step = line(effective, deps);
    if (step === null) continue;
    if (reads.requestBody) collect();
    steps.push(step);
  }
  return steps;
}

/** The steps of an order; the body is collected first when one of them reads it. */
export function composeResponse(
  lines: readonly ResponseLine[],
  { scope, deps: engine, limitBytes }: { scope: ResponseScope; deps: PolicyDeps; limitBytes: number },
): { readonly steps: readonly NamedResponseStep[]; readonly reads: PipelineReads } {
  const { deps, reads } = notingReads(engine);
  const steps = lines.flatMap((line) => line(scope, deps) ?? []);
  if (reads.responseBody) steps.unshift(collectResponseBody({ limitBytes, deps: engine }));
  return { steps, reads };
}
