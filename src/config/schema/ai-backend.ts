import { z } from 'zod';
import { hostText } from './backend-ref.ts';
import { exactlyOne, object, withRule } from './build.ts';
import { backendPolicies } from './policy-sets.ts';

const model = z.string().min(1).optional();
const providerKinds = ['openAI', 'gemini', 'vertex', 'anthropic', 'bedrock', 'azure', 'copilot', 'custom'] as const;

const score = object('What to do.', { mode: z.enum(['score', 'block']) }).optional();

const provider = exactlyOne(
  object('Which service it is; exactly one key.', {
    openAI: object('OpenAI.', {
      model,
      moderation: object('Moderation.', {
        model: z.string().default('omni-moderation-latest'),
        policy: object('By direction.', { input: score, output: score }),
      }).optional(),
    }).optional(),
    gemini: object('Gemini.', { model }).optional(),
    vertex: object('Vertex AI.', { projectId: z.string().min(1), region: z.string().optional(), model }).optional(),
    anthropic: object('Anthropic.', { model }).optional(),
    bedrock: object('Bedrock.', {
      region: z.string().min(1),
      model,
      guardrailIdentifier: z.string().optional(),
      guardrailVersion: z.string().optional(),
    }).optional(),
    azure: object('Azure.', {
      resourceName: z.string().min(1),
      resourceType: z.enum(['openAI', 'foundry', 'aiServices']),
      apiVersion: z.string().optional(),
      projectName: z.string().optional(),
      model,
    }).optional(),
    copilot: object('Copilot.', { model }).optional(),
    custom: object('Any service that speaks one of the formats.', {
      formats: z
        .array(
          object('A format and its path.', {
            type: z.enum([
              'completions',
              'messages',
              'responses',
              'embeddings',
              'anthropicTokenCount',
              'generateContent',
              'geminiCountTokens',
              'realtime',
              'rerank',
            ]),
            path: z.string().optional(),
          }),
        )
        .min(1),
      model,
      providerOverride: z.string().min(1).max(256).optional().describe('Name for telemetry and prices.'),
    }).optional(),
  }),
  'a provider',
  providerKinds,
);

const path = z.string().regex(/^\//, { error: 'expected a path that starts with `/`' });

const shape = {
  name: z.string().min(1).max(256).describe('For logs and metrics.'),
  provider,
  hostOverride: hostText.optional().describe('`host:port` instead of the host of the provider.'),
  pathOverride: path.optional().describe('Path and query of every request.'),
  pathPrefix: path.optional().describe("Instead of the provider's own base path, such as `/v1`."),
  tokenize: z.boolean().default(false).describe('Count the tokens of requests before they are sent.'),
  policies: backendPolicies.optional(),
};

const member = object('A service of language models.', shape, 'AiProvider');

/** `ai`: a language model service, or groups of them in order of preference. */
export const aiBackend = withRule(
  object(
    'A service of language models, or `groups` of them in order of preference.',
    {
      ...member.partial().shape,
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
  },
);

export type AiBackendSpec = z.output<typeof aiBackend>;
export type AiProviderSpec = z.output<typeof member>;
