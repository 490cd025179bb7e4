import type { LlmService } from '../../../src/config/ir/index.ts';
import { assertNever } from '../../../src/shared/assert-never.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import type { Provider, ProviderSettings } from './contract.ts';
import { copilot } from './copilot.ts';
import { custom } from './custom.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { vertex } from './vertex.ts';

/** Every kind of provider. One line each. */
export function providerOf(service: LlmService, settings: ProviderSettings): Provider {
  switch (service.kind) {
    case 'openai':
      return openai(service);
    case 'anthropic':
      return anthropic(settings);
    case 'gemini':
      return gemini(settings);
    case 'vertex':
      return vertex(service);
    case 'bedrock':
      return bedrock(service);
    case 'azure':
      return azure(service, settings);
    case 'copilot':
      return copilot();
    case 'custom':
      return custom(service);
    default:
      return assertNever(service);
  }
}
