import { type ProviderCall, refuse, text } from '../call.ts';
import { countCheck, messagesCheck } from '../schema/anthropic.ts';
import { anthropicDialect, countTokens, messages } from './anthropic.ts';
import { openaiDialect } from './openai-chat.ts';
import { openaiRoute } from './openai.ts';

const V1 = /^\/(?:api\/projects\/[^/]+\/)?openai\/v1(\/.*)$/;
const DEPLOYMENT = /^\/openai\/deployments\/[^/]+(\/(?:chat\/completions|embeddings))$/;
const CLAUDE = '/anthropic/v1/messages';

/** Azure: OpenAI's API by name or by deployment, and Anthropic's in Foundry. */
export async function azure(call: ProviderCall): Promise<void> {
  const bearer = text(call.headers.authorization).startsWith('Bearer ');
  if (call.headers['api-key'] === undefined && !bearer)
    return refuse(call, openaiDialect, {
      status: 401,
      message: 'Access denied due to missing subscription key or invalid endpoint.',
    });
  if (call.path.startsWith(CLAUDE)) return claude(call);
  const deployment = DEPLOYMENT.exec(call.path)?.[1] ?? /^\/openai(\/responses)$/.exec(call.path)?.[1];
  if (deployment !== undefined) {
    if (call.query.get('api-version') === null)
      return refuse(call, openaiDialect, { status: 404, message: 'Resource not found' });
    return openaiRoute(call, deployment);
  }
  const suffix = V1.exec(call.path)?.[1];
  if (suffix === undefined) return refuse(call, openaiDialect, { status: 404, message: 'Resource not found' });
  return openaiRoute(call, suffix);
}

async function claude(call: ProviderCall): Promise<void> {
  if (call.headers['anthropic-version'] !== '2023-06-01')
    return refuse(call, anthropicDialect, { status: 400, message: 'anthropic-version: header is required' });
  if (call.path === `${CLAUDE}/count_tokens`) return countTokens(call, countCheck);
  return messages(call, {
    check: messagesCheck,
    model: text(call.body['model']),
    stream: call.body['stream'] === true,
  });
}
