import { modelAddresses } from '../../../src/admin/views/model-address.ts';
import type { Wanted } from '../place.ts';

/** Where language models are asked. */
export const models: Wanted = {
  what: 'language models',
  addresses: modelAddresses,
  path: '',
  code: 'GW_NO_MODELS',
  section: 'llm',
};
