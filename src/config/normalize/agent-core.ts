import type { AgentCoreBackend } from '../ir/backend.ts';
import { type AgentCoreSpec, RUNTIME_ARN } from '../schema/agent-core.ts';

/** The schema has read the ARN. */
export function agentCore({ agentRuntimeArn: arn, qualifier }: AgentCoreSpec, key: string): AgentCoreBackend {
  const [, , region = '', account = ''] = RUNTIME_ARN.exec(arn) ?? [];
  return { kind: 'agentCore', key, arn, region, account, qualifier };
}
