import type { AiPolicy } from '../../../src/config/ir/index.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { LlmService } from '../service.ts';
import { modelAlias } from './alias.ts';
import { fieldChanges, finalChanges } from './fields.ts';
import { promptChanges } from './prompts.ts';

/** What a policy does with bodies. Throws a `GwError` for an expression that is none. */
export function compileBodies(
  policy: AiPolicy,
  context: PolicyContext,
): Pick<LlmService, 'mutate' | 'alias' | 'enrich' | 'finalize'> {
  return {
    mutate: fieldChanges(policy, context),
    alias: modelAlias(policy.modelAliases),
    enrich: promptChanges(policy.prompts, context.source),
    finalize: finalChanges(policy, context),
  };
}
