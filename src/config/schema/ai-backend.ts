import { z } from 'zod';
import { hostText } from './backend-ref.ts';
import { type AddIssue, exactlyOne, object, withRule } from './build.ts';
import {
  apiVersion,
  customProvider,
  pathPrefix,
  projectId,
  projectName,
  providerModel,
  region,
  requestPath,
  resourceName,
  resourceType,
} from './llm-provider.ts';
import { backendPolicies } from './policy-sets.ts';

const model = providerModel.optional().describe('Takes the place of the model that requests name.');
const providerKinds = ['openAI', 'gemini', 'vertex', 'anthropic', 'bedrock', 'azure', 'copilot', 'custom'] as const;

const score = object('What to do.', { mode: z.enum(['score', 'block']) }).optional();

const bedrock = withRule(
  object('Amazon Bedrock.', {
    region,
    model,
    guardrailIdentifier: z.string().min(1).max(256).optional(),
    guardrailVersion: z.string().min(1).max(256).optional(),
  }),
  ({ guardrailIdentifier: identifier, guardrailVersion: version }, add) => {
    if ((identifier === undefined) !== (version === undefined))
      add('`guardrailIdentifier` and `guardrailVersion` go together', {
        at: identifier === undefined ? 'guardrailVersion' : 'guardrailIdentifier',
        code: 'GW_CONFIG_MISSING',
      });
  },
);

const provider = exactlyOne(
  object('Which service it is; exactly one key.', {
    openAI: object('OpenAI.', {
      model,
      moderation: object('Moderation.', {
        model: z.string().min(1).max(256).default('omni-moderation-latest'),
        policy: object('By direction.', { input: score, output: score }),
      }).optional(),
    }).optional(),
    gemini: object('Gemini.', { model }).optional(),
    vertex: object('Vertex AI.', { projectId, region: region.optional(), model }).optional(),
    anthropic: object('Anthropic.', { model }).optional(),
    bedrock: bedrock.optional(),
    azure: object('Azure.', {
      resourceName,
      resourceType,
      apiVersion: apiVersion.optional(),
      projectName: projectName.optional(),
      model,
    }).optional(),
    copilot: object('Copilot.', { model }).optional(),
    custom: customProvider.optional(),
  }),
  'a provider',
  providerKinds,
);

const shape = {
  name: z.string().min(1).max(256).describe('For logs and metrics.'),
  provider,
  hostOverride: hostText.optional().describe('`host:port` instead of the host of the provider.'),
  pathOverride: requestPath.optional().describe('Path and query of every request.'),
  pathPrefix: pathPrefix.optional().describe("Instead of the provider's own base path, such as `/v1`."),
  tokenize: z.boolean().default(false).describe('Count the tokens of requests before they are sent.'),
  policies: backendPolicies.optional(),
};

const MISSING_HOST = 'a custom provider has no host of its own: it needs `hostOverride`';

function hostRule(keys: Record<string, unknown>, add: AddIssue): void {
  const { provider: chosen, hostOverride } = keys;
  const custom: unknown = typeof chosen === 'object' && chosen !== null ? Reflect.get(chosen, 'custom') : undefined;
  if (custom !== undefined && hostOverride === undefined) add(MISSING_HOST, { code: 'GW_CONFIG_MISSING' });
}

const plainMember = object('A service of language models.', shape, 'AiProvider');
const member = withRule(plainMember, hostRule);

/** `ai`: a language model service, or groups of them in order of preference. */
export const aiBackend = withRule(
  object(
    'A service of language models, or `groups` of them in order of preference.',
    {
      ...plainMember.partial().shape,
      groups: z
        .array(object('Services that share the load.', { providers: z.array(member).min(1).max(64) }))
        .min(1)
        .max(8)
        .optional(),
    },
    'AiBackend',
  ),
  (keys, add) => {
    if (keys['groups'] !== undefined) {
      const other = Object.keys(keys).find((key) => key !== 'groups' && keys[key] !== undefined && keys[key] !== false);
      if (other !== undefined)
        add(`\`groups\` stands alone: \`${other}\` belongs to the members of a group`, {
          at: other,
          code: 'GW_CONFIG_CONFLICT',
        });
      return;
    }
    for (const key of ['name', 'provider'])
      if (keys[key] === undefined) add(`\`${key}\` is required, or \`groups\``, { code: 'GW_CONFIG_MISSING' });
    hostRule(keys, add);
  },
);

export type AiBackendSpec = z.output<typeof aiBackend>;
export type AiProviderSpec = z.output<typeof member>;
