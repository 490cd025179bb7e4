import Anthropic from '@anthropic-ai/sdk';
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { CohereClientV2 } from 'cohere-ai';
import OpenAI from 'openai';
// Google's client looks for the dispatcher that this leaves in the globals, which Node's own leaves in another context.
import 'undici';

/** The clients of the vendors, each against an address of its own; they try but once. */
export const clients = {
  openai: (url: string) => new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 }),
  anthropic: (url: string) => new Anthropic({ apiKey: 'sk-ant-api03-test', baseURL: url, maxRetries: 0 }),
  google: (url: string) => new GoogleGenAI({ apiKey: 'AIza-test', httpOptions: { baseUrl: url } }),
  bedrock: (url: string) =>
    new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: url,
      credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler(),
    }),
  cohere: (url: string) => new CohereClientV2({ token: 'k', environment: url, maxRetries: 0 }),
} as const;
