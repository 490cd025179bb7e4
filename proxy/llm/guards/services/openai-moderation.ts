import type { Guard } from '../../../../src/config/ir/llm.ts';
import type { PolicyContext } from '../../../policy/contract.ts';
import { GuardFailure } from '../contract.ts';
import { list, object, objects } from '../../json.ts';
import { guardClient } from './client.ts';
import { type Answer, bodyOf, type GuardService, passed } from './contract.ts';

type Settings = Extract<Guard, { kind: 'openAIModeration' }>;

/** The moderation endpoint of OpenAI: a text that is flagged is rejected. */
export function openAiModeration({ service, model }: Settings, context: PolicyContext): GuardService {
  const client = guardClient(service, context);
  return {
    name: client.name,
    async ask({ exchange, signal, messages }) {
      const input = messages.map(({ content }) => content).filter((content) => content !== '');
      if (input.length === 0) return passed;
      const call = { exchange, signal, path: '/v1/moderations', body: { input, model } };
      return answerOf(bodyOf(await client.send(call)));
    },
  };
}

function answerOf(body: ReturnType<typeof bodyOf>): Answer {
  if (list(body['results']) === undefined) throw new GuardFailure('the moderation tells no results');
  const flagged = objects(body['results']).filter((result) => result['flagged'] === true);
  if (flagged.length === 0) return passed;
  const categories = flagged.flatMap((result) =>
    Object.entries(object(result['categories']) ?? {}).flatMap(([name, hit]) => (hit === true ? [name] : [])),
  );
  return { kind: 'reject', what: [...new Set(categories)].join(', ') || 'flagged' };
}
