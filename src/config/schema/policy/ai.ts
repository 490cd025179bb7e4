import { z } from 'zod';
import { object } from '../build.ts';
import { json } from '../json-value.ts';
import { cel, shortString } from '../scalars.ts';
import type { promptGuard } from './prompt-guard.ts';

const MAX_FIELDS = 64;

const fieldName = z.string().min(1).max(256);

function atMost<V>(values: Record<string, V>): boolean {
  return Object.keys(values).length <= MAX_FIELDS;
}

const tooMany = { error: `expected at most ${MAX_FIELDS} entries` };

/** Values of top-level fields of bodies. */
export const fieldValues = z.record(fieldName, json).refine(atMost, tooMany);

/** Expressions that give the values of top-level fields of bodies. */
export const fieldExpressions = z.record(fieldName, cel).refine(atMost, tooMany);

const routeType = z.enum([
  'completions',
  'messages',
  'responses',
  'generateContent',
  'embeddings',
  'rerank',
  'anthropicTokenCount',
  'geminiCountTokens',
  'realtime',
  'detect',
  'passthrough',
  'models',
]);

const message = object('A message.', {
  role: shortString.describe('Such as system, user or assistant.'),
  content: z.string().min(1).max(65_536),
});

const messages = z.array(message).max(64).default([]);

export const promptCaching = object(
  'Marks parts of prompts that the provider should keep (Bedrock).',
  {
    cacheSystem: z.boolean().default(true).describe('The system prompt.'),
    cacheMessages: z.boolean().default(true).describe('The messages before the last.'),
    cacheTools: z.boolean().default(false).describe('The definitions of tools.'),
    minTokens: z.int().min(0).max(4294967295).default(1024).describe('Shorter prompts are not marked.'),
    cacheMessageOffset: z
      .int()
      .min(0)
      .max(4294967295)
      .default(0)
      .describe('How many messages before the usual place the mark is set.'),
  },
  'PromptCaching',
);

export const onUnsupported = z
  .enum(['warn', 'reject'])
  .describe(
    'Fields that the format of the provider cannot carry: `warn` drops them and tells the trace, `reject` answers 400.',
  );

/** `ai`: what is done with the bodies of requests to language models and of their answers. */
export function ai<G extends z.ZodType>(guards: G) {
  return object(
    'Settings of language model traffic: kinds of requests, fields of bodies, prompts, guards.',
    {
      routes: z
        .record(z.string().min(1).max(1024), routeType)
        .optional()
        .describe(
          'What requests are, by the end of their path: the longest that fits counts, `*` stands for every other. Absent: all are chat completions.',
        ),
      defaults: fieldValues.optional().describe('Top-level fields that are set where the request has none.'),
      overrides: fieldValues.optional().describe('Top-level fields that are always set.'),
      transformations: fieldExpressions
        .optional()
        .describe('Top-level fields by expressions over `llmRequest`, the body of the client. What fails is removed.'),
      finalTransformations: fieldExpressions.optional().describe('The same over the body as the provider gets it.'),
      prompts: object('Messages added to every prompt.', { prepend: messages, append: messages }).optional(),
      modelAliases: z
        .record(z.string().min(1).max(256), z.string().min(1).max(256))
        .refine(atMost, tooMany)
        .optional()
        .describe('Names of models, or patterns with `*`, to the name that the provider knows.'),
      promptCaching: promptCaching.optional(),
      promptGuard: guards.optional(),
      onUnsupported: onUnsupported.optional(),
    },
    'AiPolicy',
  );
}

export type AiPolicySpec = z.output<ReturnType<typeof ai<ReturnType<typeof promptGuard>>>>;
