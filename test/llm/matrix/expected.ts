import type { UpstreamFormat } from '../../../proxy/llm/formats.ts';
import type { Counted } from '../providers/script.ts';
import type { ChatClient, Told } from './client.ts';
import type { Column } from './columns.ts';

interface Pair {
  readonly client: ChatClient;
  readonly column: Column;
  readonly upstream: UpstreamFormat;
}

/** Of what a provider counts apart from its cache, the user of another format sees what the provider said. */
export function expectedInput({ client, upstream }: Pair, { input, cached }: Counted): number {
  if (client.format === 'messages' || client.format === 'converse') return client.countsCached ? input : input - cached;
  return upstream === 'messages' || upstream === 'converse' ? input - cached : input;
}

/**
 * OpenAI shows no thoughts in chats; those who are like it do. Its responses show summaries, for which clients of messages
 * cannot ask.
 */
export function showsThoughts({ client, column, upstream }: Pair): boolean {
  if (upstream === 'responses') return client.format === 'responses';
  return upstream !== 'completions' || column.model.startsWith('deepseek');
}

/** A model that thinks wants its thoughts back, with the signature that it gave them. */
export function keepsSignatures({ client, upstream }: Pair): boolean {
  const signed = upstream === 'messages' || upstream === 'converse' || upstream === 'generateContent';
  return signed && client.lacks?.has('signatures') !== true;
}

const WORDS = 'I cannot help with that.';

/** A refusal has words of its own at OpenAI; elsewhere it is a reason to stop. */
export function expectedRefusal({ client, upstream }: Pair): Partial<Told> | { readonly message: string } {
  const { finish, refused, format } = client;
  const worded = upstream === 'completions' || upstream === 'responses';
  if (!worded) {
    const failed = format === 'responses' && refused === undefined;
    return failed ? { message: 'Content filtered by guardrails' } : { finish: finish.filtered };
  }
  if (format === 'messages') return { text: WORDS, finish: finish.filtered };
  return refused?.worded === true
    ? { refusal: WORDS, finish: refused.finish }
    : { finish: refused?.finish ?? finish.filtered };
}
