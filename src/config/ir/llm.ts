import type { JsonValue } from '../../shared/json.ts';
import type { HostTarget } from './backend.ts';
import type { Authorization } from './policy/authorization.ts';
import type { ServiceRef } from './policy/policy-service.ts';
import type { BackendPolicies } from './policy.ts';
import type { ValueMatch } from './route.ts';

/** What a request to a language model is; by path, for the formats that have paths of their own. */
export type LlmRouteType =
  | 'completions'
  | 'messages'
  | 'responses'
  | 'generateContent'
  | 'embeddings'
  | 'rerank'
  | 'anthropicTokenCount'
  | 'geminiCountTokens'
  | 'realtime'
  | 'detect'
  | 'passthrough'
  | 'models';

/** Services of language models: groups in order of preference, members of a group share the load. */
export interface AiBackend {
  readonly kind: 'ai';
  /** `/<name>` when named, `<routeKey>/backend<idx>` when written inline. */
  readonly key: string;
  readonly groups: readonly (readonly AiProvider[])[];
}

/** One service with the settings that this backend has for it. */
export interface AiProvider {
  /** Unique in its backend. */
  readonly name: string;
  /** `<backend key>/<name>`: whose health, latency and credentials it is. */
  readonly key: string;
  readonly service: LlmService;
  /** Of a target of a virtual model: the key of the model's own backend, whose calls these are too. */
  readonly standsFor?: string | undefined;
  /** Takes the place of the model that requests name. */
  readonly model?: string | undefined;
  /** Takes the place of the service's own host. */
  readonly host?: HostTarget | undefined;
  /** Path and query of every request. */
  readonly path?: string | undefined;
  /** Takes the place of, or goes before, the service's own base path. No trailing `/`. */
  readonly pathPrefix?: string | undefined;
  /** Count the input before it is sent. */
  readonly tokenize: boolean;
  readonly policies: BackendPolicies;
}

export type LlmService =
  | { readonly kind: 'openai'; readonly moderation?: Moderation | undefined }
  | { readonly kind: 'anthropic' }
  | { readonly kind: 'gemini' }
  | { readonly kind: 'vertex'; readonly projectId: string; readonly region?: string | undefined }
  | {
      readonly kind: 'bedrock';
      readonly region: string;
      readonly guardrail?: { readonly identifier: string; readonly version: string } | undefined;
      /** Anthropic's betas that clients may ask for; `default` among them stands for the usual ones, undefined for them alone. */
      readonly betas?: readonly string[] | undefined;
    }
  | {
      readonly kind: 'azure';
      readonly resourceName: string;
      readonly resourceType: 'openAI' | 'foundry' | 'aiServices';
      readonly apiVersion?: string | undefined;
      readonly projectName?: string | undefined;
    }
  | { readonly kind: 'copilot' }
  | {
      readonly kind: 'custom';
      /** For telemetry and prices. */
      readonly identity: string;
      readonly formats: readonly CustomFormat[];
    };

/** What OpenAI is asked to moderate by itself. */
export interface Moderation {
  readonly model: string;
  readonly input?: 'score' | 'block' | undefined;
  readonly output?: 'score' | 'block' | undefined;
}

export interface CustomFormat {
  readonly type:
    | 'completions'
    | 'messages'
    | 'responses'
    | 'embeddings'
    | 'anthropicTokenCount'
    | 'generateContent'
    | 'geminiCountTokens'
    | 'realtime'
    | 'rerank';
  /** The whole path; undefined is the usual one of the format. */
  readonly path?: string | undefined;
}

/** `ai`: what is done with the bodies of requests and answers. Merged field by field. */
export interface AiPolicy {
  /** Path suffixes, longest first, `*` last; undefined treats everything as chat completions. */
  readonly routes?: readonly (readonly [suffix: string, type: LlmRouteType])[] | undefined;
  /** Top-level fields of bodies: set where absent. */
  readonly defaults?: Readonly<Record<string, JsonValue>> | undefined;
  /** Set always. */
  readonly overrides?: Readonly<Record<string, JsonValue>> | undefined;
  /** Expressions by field, over the client's body. */
  readonly transformations?: Readonly<Record<string, string>> | undefined;
  /** Expressions by field, over the body as the service gets it. */
  readonly finalTransformations?: Readonly<Record<string, string>> | undefined;
  readonly prompts?: PromptEnrichment | undefined;
  /** Exact names and patterns with `*`, to the name that the service knows. */
  readonly modelAliases?: Readonly<Record<string, string>> | undefined;
  readonly promptCaching?: PromptCachingPolicy | undefined;
  readonly promptGuard?: PromptGuard | undefined;
  /** What becomes of fields that the service's format cannot carry. */
  readonly onUnsupported?: 'warn' | 'reject' | undefined;
}

export interface PromptEnrichment {
  readonly prepend: readonly PromptMessage[];
  readonly append: readonly PromptMessage[];
}

export interface PromptMessage {
  readonly role: string;
  readonly content: string;
}

export interface PromptCachingPolicy {
  readonly cacheSystem: boolean;
  readonly cacheMessages: boolean;
  readonly cacheTools: boolean;
  readonly minTokens: number;
  readonly cacheMessageOffset: number;
}

// ── guards ──

export interface PromptGuard {
  /** Whether streamed answers and realtime messages are looked at. */
  readonly streaming: boolean;
  readonly request: readonly RequestGuard[];
  readonly response: readonly ResponseGuard[];
}

/** `reasoning` is what a model thinks, in answers alone. */
export type ContentScope = 'systemPrompt' | 'messages' | 'toolOutput' | 'toolInput' | 'reasoning';

export interface Rejection {
  readonly status: number;
  readonly body: string;
  readonly headers?:
    | {
        readonly add: readonly (readonly [string, string])[];
        readonly set: readonly (readonly [string, string])[];
        readonly remove: readonly string[];
      }
    | undefined;
}

export interface RequestGuard {
  readonly guard: Guard;
  readonly rejection: Rejection;
  readonly scope: readonly ContentScope[];
}

export interface ResponseGuard {
  readonly guard: Guard;
  readonly rejection: Rejection;
  readonly scope: readonly ContentScope[];
}

export type Guard =
  | { readonly kind: 'regex'; readonly action: 'mask' | 'reject'; readonly rules: readonly RegexRule[] }
  | {
      readonly kind: 'webhook';
      readonly service: ServiceRef;
      /** Headers and `:path`, `:method`, `:authority` by expression. */
      readonly headers: Readonly<Record<string, string>>;
      /** The client's headers that are sent along. */
      readonly forwardHeaderMatches: readonly ValueMatch[];
      readonly failureMode: 'failClosed' | 'failOpen';
      /** `audit`: what the service says is recorded, and nothing is changed. */
      readonly action: 'enforce' | 'audit';
    }
  | { readonly kind: 'openAIModeration'; readonly service: ServiceRef; readonly model: string }
  | {
      readonly kind: 'bedrockGuardrails';
      readonly service: ServiceRef;
      readonly identifier: string;
      readonly version: string;
    }
  | {
      readonly kind: 'googleModelArmor';
      readonly service: ServiceRef;
      readonly templateId: string;
      readonly projectId: string;
      readonly location: string;
    }
  | {
      readonly kind: 'azureContentSafety';
      readonly service: ServiceRef;
      readonly analyzeText?:
        | {
            readonly severityThreshold: number;
            readonly apiVersion: string;
            readonly blocklistNames: readonly string[];
            readonly haltOnBlocklistHit: boolean;
          }
        | undefined;
      readonly detectJailbreak?: { readonly apiVersion: string } | undefined;
    };

export type RegexRule =
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: 'builtin'; readonly builtin: 'ssn' | 'creditCard' | 'phoneNumber' | 'email' | 'caSin' };

// ── many models behind one address ──

/** `llm`: finds the model that a request names. */
export interface ModelsBackend {
  readonly kind: 'models';
  readonly key: string;
  /** More literal characters first, then as written. */
  readonly models: readonly LlmModel[];
  readonly virtualModels: readonly VirtualModel[];
}

export interface LlmModel {
  readonly id?: string | undefined;
  /** Exact, `prefix*`, `*suffix` or `*`. */
  readonly name: string;
  readonly visibility: 'public' | 'internal';
  /** One of them has to match as a whole; an empty list always matches. */
  readonly matches: readonly (readonly ValueMatch[])[];
  readonly authorization?: Authorization | undefined;
  /** One group with one provider. */
  readonly backend: AiBackend;
}

export interface VirtualModel {
  readonly name: string;
  readonly routing:
    | { readonly kind: 'weighted'; readonly targets: readonly { readonly model: string; readonly weight: number }[] }
    | {
        readonly kind: 'failover';
        readonly targets: readonly { readonly model: string; readonly priority: number }[];
        /** A group for each priority; every member asks for its target. */
        readonly backend: AiBackend;
      }
    | {
        readonly kind: 'conditional';
        readonly targets: readonly { readonly model: string; readonly when?: string | undefined }[];
      };
}
