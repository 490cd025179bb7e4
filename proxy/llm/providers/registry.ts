import type { LlmService } from '../../../src/config/ir/index.ts';
import { GwError } from '../../../src/shared/errors.ts';
import type { Provider } from './contract.ts';
import { openai } from './openai.ts';

/** Every kind of provider. One line each. */
export function providerOf(service: LlmService): Provider {
  switch (service.kind) {
    case 'openai':
      return openai();
    default:
      throw new GwError(`the provider ${service.kind} is not built in this release`, { code: 'GW_POLICY_INVALID' });
  }
}
