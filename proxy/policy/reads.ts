import type { Expressions } from '../expression/contract.ts';
import type { PolicyDeps } from './contract.ts';

/** What the expressions of a pipeline need collected before it begins. */
export interface PipelineReads {
  requestBody: boolean;
  responseBody: boolean;
}

/** The same dependencies, noting what every expression compiled with them reads. */
export function notingReads(deps: PolicyDeps): { readonly deps: PolicyDeps; readonly reads: PipelineReads } {
  const reads: PipelineReads = { requestBody: false, responseBody: false };
  const expressions: Expressions = {
    compile(source, where, about) {
      const compiled = deps.expressions.compile(source, where, about);
      reads.requestBody ||= compiled.reads.requestBody;
      if (about !== 'serviceAnswer') reads.responseBody ||= compiled.reads.responseBody;
      return compiled;
    },
  };
  return { deps: { ...deps, expressions }, reads };
}
