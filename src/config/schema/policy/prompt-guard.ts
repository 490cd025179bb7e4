import { z } from 'zod';
import { type AddIssue, exactlyOne, object, withRule } from '../build.ts';
import { checked } from '../marks.ts';
import { headerMatch } from '../match.ts';
import { cel, shortString, status } from '../scalars.ts';
import { headerModifier } from './header-modifier.ts';
import { policyServiceRule, policyServiceShape } from './policy-service.ts';

const builtin = z.enum(['ssn', 'creditCard', 'phoneNumber', 'email', 'caSin']);

const regex = object('Looks for patterns.', {
  action: z
    .enum(['mask', 'reject'])
    .default('mask')
    .describe('`mask` replaces what is found, `reject` refuses the text.'),
  rules: z
    .array(
      exactlyOne(
        object('A pattern, or one that is built in.', {
          pattern: checked(
            z.string().min(1).max(4096).describe('A regular expression in RE2 syntax.'),
            'regex',
          ).optional(),
          builtin: builtin.optional().describe('Well-known personal data.'),
        }),
        'a rule',
        ['pattern', 'builtin'],
      ),
    )
    .min(1)
    .max(64),
});

const webhookHeader = z
  .string()
  .min(1)
  .max(256)
  .regex(/^(:(method|authority|path)|[A-Za-z0-9!#$%&'*+\-.^_`|~]+)$/, {
    error: 'expected a header name, or one of :method, :authority, :path',
  });

function webhook(connection: z.ZodType) {
  return object('Asks a service, which passes, masks or rejects.', {
    target: withRule(object('The service.', policyServiceShape(connection)), policyServiceRule),
    headers: z
      .record(webhookHeader, cel)
      .default({})
      .describe('Headers of the call by expressions, and `:path`, `:method`, `:authority`.'),
    forwardHeaderMatches: z
      .array(headerMatch)
      .max(64)
      .default([])
      .describe('Headers of the message that are sent along.'),
    failureMode: z
      .enum(['failClosed', 'failOpen', 'FailClosed', 'FailOpen'])
      .transform((mode) => (mode === 'failOpen' || mode === 'FailOpen' ? 'failOpen' : 'failClosed'))
      .default('failClosed')
      .describe('When the service cannot be asked: `failClosed` answers 503, `failOpen` lets the text pass.'),
    action: z
      .enum(['enforce', 'audit'])
      .default('enforce')
      .describe('`audit`: what the service says is recorded, and nothing is changed.'),
  });
}

function kinds(connection: z.ZodType) {
  const policies = connection.optional().describe('How the service is connected to, credentials included.');
  return {
    regex: regex.optional(),
    webhook: webhook(connection).optional(),
    bedrockGuardrails: object('Guardrails of Amazon Bedrock.', {
      guardrailIdentifier: shortString,
      guardrailVersion: shortString,
      region: z.string().regex(/^[a-z0-9-]{1,63}$/, { error: 'expected a region such as eu-west-1' }),
      policies,
    }).optional(),
    googleModelArmor: object('Google Model Armor.', {
      templateId: shortString,
      projectId: shortString,
      location: z
        .string()
        .regex(/^[a-z0-9-]{1,63}$/, { error: 'expected a location such as us-central1' })
        .default('us-central1'),
      policies,
    }).optional(),
  };
}

const analyzeText = object('Scores texts by category of harm.', {
  severityThreshold: z.int().min(0).max(7).default(2).describe('Severity from which a text is refused.'),
  apiVersion: shortString.default('2024-09-01'),
  blocklistNames: z.array(shortString).max(64).default([]),
  haltOnBlocklistHit: z.boolean().default(false),
});

function azureShape(connection: z.ZodType) {
  return {
    endpoint: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^(https:\/\/)?[A-Za-z0-9.-]+(:[0-9]{1,5})?\/*$/, {
        error: 'expected a host name, with `https://` or without',
      }),
    policies: connection.optional().describe('How the service is connected to, credentials included.'),
    analyzeText: analyzeText.optional(),
  };
}

function azureOfRequests(connection: z.ZodType) {
  const detectJailbreak = object('Looks for attempts to get around the rules of the model.', {
    apiVersion: shortString.default('2024-02-15-preview'),
  });
  return withRule(
    object('Azure AI Content Safety.', { ...azureShape(connection), detectJailbreak: detectJailbreak.optional() }),
    (keys, add) => {
      if (keys['analyzeText'] === undefined && keys['detectJailbreak'] === undefined)
        add('content safety needs `analyzeText` or `detectJailbreak`', { code: 'GW_CONFIG_MISSING' });
    },
  );
}

function azureOfResponses(connection: z.ZodType) {
  return withRule(object('Azure AI Content Safety.', azureShape(connection)), (keys, add) => {
    if (keys['analyzeText'] === undefined) add('content safety needs `analyzeText`', { code: 'GW_CONFIG_MISSING' });
  });
}

const REJECTION_TEXT = 'The request was rejected due to inappropriate content';

const rejection = object('The answer to what is rejected.', {
  status: status(200).default(403),
  body: z.string().max(65_536).default(REJECTION_TEXT),
  headers: headerModifier.optional(),
}).prefault({});

const scope = z
  .array(z.enum(['systemPrompt', 'messages', 'toolOutput', 'toolInput']))
  .min(1)
  .max(4)
  .optional()
  .describe('Parts of the prompt that are looked at. Default: systemPrompt and messages.');

const answerScope = z
  .array(z.enum(['messages', 'toolInput', 'reasoning']))
  .min(1)
  .max(3)
  .optional()
  .describe('Parts of the answer that are looked at. Default: messages.');

const REQUEST_KINDS = [
  'regex',
  'webhook',
  'openAIModeration',
  'bedrockGuardrails',
  'googleModelArmor',
  'azureContentSafety',
];
const RESPONSE_KINDS = REQUEST_KINDS.filter((kind) => kind !== 'openAIModeration');
/** Guards that can leave parts of a prompt out. */
const SCOPED = new Set(['regex', 'bedrockGuardrails']);

function requestGuard(connection: z.ZodType) {
  const guard = object('A guard; exactly one kind.', {
    rejection,
    scope,
    ...kinds(connection),
    openAIModeration: object('The moderation of OpenAI.', {
      model: shortString.default('omni-moderation-latest'),
      policies: connection.optional().describe('How the service is connected to, credentials included.'),
    }).optional(),
    azureContentSafety: azureOfRequests(connection).optional(),
  });
  return withRule(exactlyOne(guard, 'a guard', REQUEST_KINDS), scopeRule);
}

const scopeRule = onlyWhereScoped(['systemPrompt', 'messages']);

function onlyWhereScoped(whole: readonly string[]) {
  return (keys: Record<string, unknown>, add: AddIssue): void => {
    const { scope: written } = keys;
    const kind = REQUEST_KINDS.find((each) => keys[each] !== undefined);
    if (!Array.isArray(written) || written.length === 0 || kind === undefined || SCOPED.has(kind)) return;
    if (written.length === whole.length && whole.every((part) => written.includes(part))) return;
    add(`\`${kind}\` always looks at ${whole.join(' and ')}`, { at: 'scope', code: 'GW_CONFIG_CONFLICT' });
  };
}

function responseGuard(connection: z.ZodType) {
  const guard = object('A guard; exactly one kind.', {
    rejection,
    scope: answerScope,
    ...kinds(connection),
    azureContentSafety: azureOfResponses(connection).optional(),
  });
  return withRule(exactlyOne(guard, 'a guard', RESPONSE_KINDS), onlyWhereScoped(['messages']));
}

/** Guards over prompts and answers. */
export function promptGuard(connection: z.ZodType) {
  return object(
    'Guards over prompts and answers, each applied to what the one before left.',
    {
      streaming: z
        .enum(['Disabled', 'Enabled'])
        .default('Disabled')
        .describe('Whether streamed answers and realtime messages are looked at.'),
      request: z.array(requestGuard(connection)).max(8).default([]),
      response: z.array(responseGuard(connection)).max(8).default([]),
    },
    'PromptGuard',
  );
}

export type PromptGuardSpec = z.output<ReturnType<typeof promptGuard>>;
export type RequestGuardSpec = PromptGuardSpec['request'][number];
export type ResponseGuardSpec = PromptGuardSpec['response'][number];
