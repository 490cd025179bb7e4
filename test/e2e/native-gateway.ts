import { expect } from '@jest/globals';

import { type SimulatedProvider, startProvider, type Vendor } from '../llm/providers/server.ts';
import { type Cleanup, startGateway } from './gateway.ts';

const ROUTES = `
  "/v1/chat/completions": completions
  "/v1/messages": messages
  "/v1/messages/count_tokens": anthropicTokenCount
  "/v1/responses": responses
  "/v1/embeddings": embeddings
  "/v1/rerank": rerank
  "/v2/rerank": rerank
  "/v1/realtime": realtime
  "/v1/models": models
  ":generateContent": generateContent
  ":streamGenerateContent": generateContent
  ":countTokens": geminiCountTokens
  "/v1/images/generations": detect
  "/converse": detect
  "/converse-stream": detect
  "/invoke": detect
  "/invoke-with-response-stream": detect
  "*": passthrough
`;

export interface Options {
  readonly vendor: Vendor;
  /** As the configuration has it. */
  readonly provider: string;
  readonly auth?: string;
  readonly more?: string;
}

/** Simulated providers, each behind a gateway that asks it in its own format; all goes away with `cleanup`. */
export function simulating(cleanup: Cleanup) {
  async function gatewayTo({ vendor, provider, auth = '', more = '' }: Options) {
    const simulated = cleanup.add(await startProvider(vendor));
    const gateway = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends:
  - ai:
      name: service
      provider: ${provider}
      hostOverride: "127.0.0.1:${simulated.port}"
      ${more}
      policies:
        ${auth === '' ? '' : `backendAuth: ${auth}`}
        ai:
          routes: {${ROUTES.trim().replaceAll('\n', ',')}}
`),
    );
    const port = gateway.port(80);
    return { gateway, simulated, port, url: `http://127.0.0.1:${port}` };
  }

  return { gatewayTo };
}

/** The fields of the access log that tell of a model. */
export async function told(
  gateway: { logged(...words: string[]): Promise<string> },
  ...words: string[]
): Promise<string> {
  return gateway.logged('gen_ai', ...words);
}

export function nothingWrong({ faults }: SimulatedProvider): void {
  expect(faults).toEqual([]);
}

export const openai: Options = { vendor: 'openai', provider: '{openAI: {}}', auth: '{key: sk-gateway}' };
