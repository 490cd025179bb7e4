import { z } from 'zod';
import { object } from './build.ts';

/** Parts of the ARN of a runtime: partition, region, account and what comes after. */
export const RUNTIME_ARN = /^arn:(aws[a-z-]*):bedrock-agentcore:([a-z0-9-]{1,63}):(\d{12}):(runtime\/[!-~]{1,512})$/;

/** `aws.agentCore`: an agent that runs on AWS. */
export const agentCore = object(
  'An agent on Bedrock AgentCore. Requests are signed with the credentials of the gateway.',
  {
    agentRuntimeArn: z
      .string()
      .regex(RUNTIME_ARN, {
        error:
          'expected the ARN of a runtime, such as arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/my_agent-AbCdEfGhIj',
      })
      .describe('ARN of the runtime; says region and account.'),
    qualifier: z
      .string()
      .min(1)
      .max(256)
      .regex(/^[A-Za-z0-9_.~-]+$/, { error: 'expected a version, or the name of an endpoint' })
      .optional()
      .describe('Version of the runtime, or name of one of its endpoints. Default: the one AWS calls DEFAULT.'),
  },
);

export type AgentCoreSpec = z.output<typeof agentCore>;
