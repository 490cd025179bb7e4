import { z } from 'zod';
import { hostText } from './backend-ref.ts';
import { type AddIssue, exactlyOne, object, oneSpelling, withRule } from './build.ts';
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
import { headerMatch } from './match.ts';
import { modelName, modelPattern } from './model-name.ts';
import { backendPolicyShape, gatewayPolicyShape, promptGuards, routePolicyShape } from './policy-sets.ts';
import { fieldExpressions, fieldValues, onUnsupported, promptCaching } from './policy/ai.ts';
import { authorization } from './policy/authorization.ts';
import { headerModifier } from './policy/header-modifier.ts';
import { cel, gatewayRefs, port, secretText, shortString, uint32 } from './scalars.ts';
import { tlsServer } from './tls.ts';

/** Services that are known by name, and the other names that they go by. */
const MANAGED = ['openAI', 'openai', 'gemini', 'vertex', 'anthropic', 'bedrock', 'azure', 'copilot'] as const;

/** Services that are custom ones with settings of their own. */
export const PRESETS = [
  'cohere',
  'ollama',
  'baseten',
  'cerebras',
  'deepinfra',
  'deepseek',
  'groq',
  'huggingface',
  'mistral',
  'openrouter',
  'togetherai',
  'xai',
  'fireworks',
] as const;

const providerName = shortString.describe('Name of an entry of `llm.providers`.');

const provider = z.union(
  [
    z.enum([...MANAGED, ...PRESETS]),
    exactlyOne(
      object('A service that is not known by name, or an entry of `providers`.', {
        custom: customProvider.optional(),
        reference: providerName.optional(),
      }),
      'a provider',
      ['custom', 'reference'],
    ),
  ],
  {
    error: () => `expected one of ${[...MANAGED, ...PRESETS].join(', ')}, {custom: …} or {reference: name}`,
  },
);

const ownProvider = z.union(
  [z.enum([...MANAGED, ...PRESETS]), object('A service that is not known by name.', { custom: customProvider })],
  { error: () => `expected one of ${[...MANAGED, ...PRESETS].join(', ')}, or {custom: …}` },
);

const paramsShape = {
  model: providerModel.optional().describe('Takes the place of the model that requests name.'),
  apiKey: secretText.optional().describe('Shown to the provider as it wants it.'),
  awsRegion: region.optional().describe('Region of Bedrock.'),
  vertexRegion: region.optional().describe('Region of Vertex AI. Default: global.'),
  vertexProject: projectId.optional().describe('Project of Vertex AI.'),
  azureResourceName: resourceName.optional(),
  azureResourceType: resourceType.optional(),
  azureApiVersion: apiVersion.optional(),
  azureProjectName: projectName.optional(),
  baseUrl: z.string().min(1).max(2048).optional().describe("`http(s)://host:port/path` instead of the provider's own."),
  hostOverride: hostText.optional().describe('Older form of the host of `baseUrl`.'),
  pathOverride: requestPath.optional().describe('Path and query of every request.'),
  pathPrefix: pathPrefix.optional().describe('Older form of the path of `baseUrl`.'),
  tokenize: z.boolean().optional().describe('Count the tokens of requests before they are sent. Default: false.'),
};

const params = withRule(object('What the provider needs to know.', paramsShape, 'LlmParams'), (keys, add) => {
  if (keys['baseUrl'] === undefined) return;
  for (const key of ['hostOverride', 'pathPrefix'])
    if (keys[key] !== undefined)
      add(`\`baseUrl\` and \`${key}\` say the same: use only \`baseUrl\``, { at: key, code: 'GW_CONFIG_CONFLICT' });
}).prefault({});

/** What models and the defaults of providers alike may say. */
const settingsShape = {
  defaults: fieldValues.optional().describe('Top-level fields of bodies that are set where the request has none.'),
  overrides: fieldValues.optional().describe('Top-level fields that are always set.'),
  transformation: fieldExpressions
    .optional()
    .describe('Top-level fields by expressions over `llmRequest`, the body of the client.'),
  requestHeaders: headerModifier.optional(),
  responseHeaders: headerModifier.optional(),
  tls: backendPolicyShape.backendTLS,
  backendTLS: backendPolicyShape.backendTLS,
  auth: backendPolicyShape.backendAuth,
  health: backendPolicyShape.health,
  backendTunnel: backendPolicyShape.backendTunnel,
  promptCaching: promptCaching.optional(),
};

const providerDefaults = withRule(
  object('What models of the provider say where they say nothing themselves.', settingsShape, 'LlmProviderDefaults'),
  (keys, add) => oneSpelling(keys, add, ['tls', 'backendTLS']),
);

const providerEntry = withRule(
  object(
    'A provider that models refer to.',
    { name: shortString, provider: ownProvider, params, defaults: providerDefaults.optional() },
    'LlmProvider',
  ),
  ({ params: given, defaults }, add) => oneCredential({ params: given, auth: field(defaults, 'auth') }, add),
);

/** The provider is shown one credential. */
function oneCredential({ params: given, auth }: Record<string, unknown>, add: AddIssue): void {
  if (auth === undefined || field(given, 'apiKey') === undefined) return;
  add('`apiKey` and `auth` both say what the provider is shown: use only one', {
    at: 'params',
    code: 'GW_CONFIG_CONFLICT',
  });
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

const model = withRule(
  object(
    'A model, or a pattern of names, and who serves it.',
    {
      id: shortString.optional().describe('Name of the entry in dumps. Default: `name`.'),
      name: modelPattern.describe('As requests name it; with one `*` at its start or end, or `*` for all.'),
      visibility: z
        .enum(['public', 'internal'])
        .default('public')
        .describe('`internal`: only for virtual models, and not listed.'),
      provider,
      params,
      passthrough: z
        .enum(['detect', 'opaque'])
        .optional()
        .describe('What requests of unknown paths are: read for telemetry, or not looked at. Default: opaque.'),
      authorization: authorization.optional().describe('Who may use the model.'),
      ...settingsShape,
      finalTransformation: fieldExpressions.optional().describe('The same over the body as the provider gets it.'),
      guardrails: promptGuards.optional(),
      matches: z
        .array(object('Headers that all have to match.', { headers: z.array(headerMatch).max(16).default([]) }))
        .max(16)
        .default([])
        .describe('Requests that the entry is for: one of these has to match. Empty: all.'),
    },
    'LlmModel',
  ),
  (keys, add) => {
    oneSpelling(keys, add, ['tls', 'backendTLS']);
    oneCredential(keys, add);
    referenceRule(keys, add);
  },
);

/** A model of a provider of the list adds nothing to how that is called. */
function referenceRule({ provider: chosen, params: given }: Record<string, unknown>, add: AddIssue): void {
  if (field(chosen, 'reference') === undefined) return;
  const others = Object.entries(typeof given === 'object' && given !== null ? given : {})
    .filter(([key, value]) => key !== 'model' && value !== undefined)
    .map(([key]) => `\`${key}\``);
  if (others.length > 0)
    add(`a model that refers to a provider may set only \`params.model\`, not ${others.join(', ')}`, {
      at: 'params',
      code: 'GW_CONFIG_CONFLICT',
    });
}

const target = modelName.describe('Name of a model, as if a request named it.');

const weighted = object('One target is drawn for each request.', {
  targets: z
    .array(object('A target.', { model: target, weight: uint32.default(1).describe('Share of the requests.') }))
    .min(1)
    .max(64),
});

const failover = object('The first priority of which something is healthy.', {
  targets: z
    .array(
      object('A target.', {
        model: target,
        priority: z.int().min(0).max(1_000_000).describe('Lower ones first; equal ones share the load.'),
      }),
    )
    .min(1)
    .max(64),
});

const conditional = object('The first target whose expression is true.', {
  targets: z
    .array(
      object('A target.', {
        model: target,
        when: cel.optional().describe('Over request, caller and `llmRequest`. Without it: always; only the last may.'),
      }),
    )
    .min(1)
    .max(64)
    .superRefine(
      (targets, context) => {
        for (const [index, value] of targets.slice(0, -1).entries()) {
          if (typeof value !== 'object' || value === null || Reflect.get(value, 'when') !== undefined) continue;
          context.addIssue({
            code: 'custom',
            message: 'a target without `when` may only be the last: those behind it are never reached',
            path: [index],
            params: { code: 'GW_CONFIG_CONFLICT' },
          });
        }
      },
      { when: ({ value }) => Array.isArray(value) },
    ),
});

const virtualModel = object(
  'A name that stands for other models.',
  {
    name: modelName,
    routing: exactlyOne(
      object('How one is chosen; exactly one key.', {
        weighted: weighted.optional(),
        failover: failover.optional(),
        conditional: conditional.optional(),
      }),
      'the routing',
      ['weighted', 'failover', 'conditional'],
    ),
  },
  'LlmVirtualModel',
);

const policies = object(
  'Policies of every request to `llm`.',
  {
    ...gatewayPolicyShape,
    guardrails: promptGuards.optional().describe('Guards that come before those of the models.'),
    localRateLimit: routePolicyShape.localRateLimit,
    remoteRateLimit: routePolicyShape.remoteRateLimit,
  },
  'LlmPolicies',
);

/** `llm`: many models behind one address. */
export const llm = withRule(
  object(
    'Models of many providers behind one address.',
    {
      gateways: gatewayRefs.optional(),
      port: port.optional().describe('Older form: a port of its own. Default without any gateway to attach to: 4000.'),
      tls: tlsServer.optional().describe('Older form: TLS of the own port.'),
      providers: z.array(providerEntry).max(256).default([]),
      models: z.array(model).max(4096),
      virtualModels: z.array(virtualModel).max(1024).default([]),
      policies: policies.optional(),
      onUnsupported: onUnsupported.optional(),
    },
    'Llm',
  ),
  (keys, add) => {
    for (const key of ['port', 'tls'])
      if (keys['gateways'] !== undefined && keys[key] !== undefined)
        add(`\`gateways\` and \`${key}\` cannot be used together`, { at: key, code: 'GW_CONFIG_CONFLICT' });
  },
);

export type LlmSpec = z.output<typeof llm>;
export type LlmModelSpec = LlmSpec['models'][number];
export type LlmProviderSpec = LlmSpec['providers'][number];
export type LlmParamsSpec = LlmModelSpec['params'];
export type LlmProviderChoice = LlmProviderSpec['provider'];
export type LlmDefaultsSpec = NonNullable<LlmProviderSpec['defaults']>;
export type LlmVirtualModelSpec = LlmSpec['virtualModels'][number];
