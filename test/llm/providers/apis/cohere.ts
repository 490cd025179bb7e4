import { type Dialect, type ProviderCall, refuse, text } from '../call.ts';
import { openaiRoute, rerank } from './openai.ts';

const cohereDialect: Dialect = { error: (_status, message) => ({ id: 'err-sim', message }) };
const COMPAT = '/compatibility/v1';

/** Cohere: its reranking, and the chats and embeddings that it makes like OpenAI. */
export async function cohere(call: ProviderCall): Promise<void> {
  if (!/^bearer /i.test(text(call.headers.authorization)))
    return refuse(call, cohereDialect, { status: 401, message: 'no api key supplied' });
  if (call.method === 'POST' && call.path === '/v2/rerank') return rerank(call);
  if (call.path.startsWith(`${COMPAT}/`)) return openaiRoute(call, call.path.slice(COMPAT.length));
  return refuse(call, cohereDialect, { status: 404, message: 'not found' });
}
