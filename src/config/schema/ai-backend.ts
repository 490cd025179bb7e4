import { z } from 'zod';
import { object } from './build.ts';
import { backendPolicies } from './policy-sets.ts';

const model = z.string().min(1).optional();
const score = object('What to do.', { mode: z.enum(['score', 'block']) }).optional();

const provider = object('Which service it is; exactly one key.', {
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
    providerOverride: z.string().optional(),
  }).optional(),
});

const named = {
  name: z.string().min(1).optional(),
  provider: provider.optional(),
  hostOverride: z.string().optional(),
  pathOverride: z.string().optional(),
  pathPrefix: z.string().optional(),
  tokenize: z.boolean().default(false),
  policies: backendPolicies.optional(),
};

/** `ai`: a language model service, or groups of them in order of preference. */
export const aiBackend = object(
  'A language model service, or `groups` of them in order of preference.',
  {
    ...named,
    groups: z
      .array(object('Services that share the load.', { providers: z.array(object('A service.', named)).min(1) }))
      .min(1)
      .max(8)
      .optional(),
  },
  'AiBackend',
);
