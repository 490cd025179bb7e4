import type { AiProvider } from '../../../src/config/ir/index.ts';
import { encodingFor, type EncodingName, loadEncoding } from './encoding.ts';

/** Those of vendors whose newest models have the newer encoding. */
const OPENAI: ReadonlySet<AiProvider['service']['kind']> = new Set(['openai', 'azure', 'copilot']);

/**
 * Loads the tables by which services count the input of requests: reading one takes a third of a second, in which a thread
 * does nothing else. Those that nobody counts by are not loaded.
 */
export async function preloadEncodings(providers: Iterable<AiProvider>, load = loadEncoding): Promise<void> {
  const names = new Set<EncodingName>();
  for (const provider of providers) if (provider.tokenize) names.add(likely(provider));
  // What a table is looked up in is made with the first count.
  for (const name of names) (await load(name))('a');
}

/** Where any model may be asked for, the one that most of them have. */
function likely({ model, name, service }: AiProvider): EncodingName {
  if (model !== undefined) return encodingFor(model);
  return OPENAI.has(service.kind) ? 'o200k_base' : encodingFor(name);
}
