import type { ProviderCall } from '../call.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import { cohere } from './cohere.ts';
import { gemini, vertex } from './google.ts';
import { openai } from './openai.ts';

/** Every API. One line each. */
export const apis = { openai, anthropic, gemini, vertex, bedrock, azure, cohere } as const satisfies Readonly<
  Record<string, (call: ProviderCall) => Promise<void>>
>;

export type Vendor = keyof typeof apis;
