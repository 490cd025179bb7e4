import type { Plan, Provider, ProviderRequest } from './contract.ts';
import { afterPrefix } from './openai.ts';
import { segment } from './path-text.ts';
import { chatPlan, isChat, isOpaque, native, reshapedFor, unsupported } from './plan.ts';

/** Amazon Bedrock: chats by Converse, everything else by the model's own bodies. */
export function bedrock({ region }: { readonly region: string }): Provider {
  const host = `bedrock-runtime.${region}.amazonaws.com`;
  const rerankHost = `bedrock-agent-runtime.${region}.amazonaws.com`;
  return {
    identity: 'aws.bedrock',
    hosts: [host, rerankHost],
    hostOf: ({ routeType }) => (routeType === 'rerank' ? rerankHost : host),
    plan: planFor,
    path: (request, _plan, prefix = '') => `${prefix}${pathFor(request)}`,
    passthroughPath: afterPrefix,
    headers({ request }, { routeType }) {
      // Agents send them; with an underscore they are lost on the way, and the signature is not of what arrives.
      if (routeType !== 'responses') return;
      request.headers.remove('conversation_id');
      request.headers.remove('session_id');
    },
    defaultAuth: { main: { kind: 'aws', credentials: { kind: 'ambient' }, region }, credentials: [] },
    excludesCache: () => true,
  };
}

function planFor({ routeType, model }: ProviderRequest): Plan {
  if (isChat(routeType)) return chatPlan(routeType, ['converse']);
  if (isOpaque(routeType)) return native(null);
  switch (routeType) {
    case 'embeddings':
    case 'rerank':
      return reshapedFor('bedrock', routeType);
    case 'anthropicTokenCount': {
      const counted = model.includes('anthropic.claude') ? reshapedFor('bedrock', routeType) : unsupported;
      return counted === unsupported ? { kind: 'local' } : counted;
    }
    default:
      return unsupported;
  }
}

function pathFor({ routeType, model, streaming }: ProviderRequest): string {
  if (routeType === 'rerank') return '/rerank';
  return `/model/${segment(model)}/${action(routeType, streaming)}`;
}

function action(routeType: ProviderRequest['routeType'], streaming: boolean): string {
  if (routeType === 'embeddings') return 'invoke';
  if (routeType === 'anthropicTokenCount') return 'count-tokens';
  return streaming ? 'converse-stream' : 'converse';
}
