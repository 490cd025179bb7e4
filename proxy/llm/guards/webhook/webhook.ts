import type { Guard } from '../../../../src/config/ir/llm.ts';
import type { PolicyContext } from '../../../policy/contract.ts';
import { guardClient } from '../services/client.ts';
import { type GuardService, objectIn, passed } from '../services/contract.ts';
import { webhookAnswer } from './answer.ts';
import { compileHead } from './headers.ts';

type Settings = Extract<Guard, { kind: 'webhook' }>;

/** A service of the operator's own, which passes, masks or rejects. Throws a `GwError` for what can't be compiled. */
export function webhook(settings: Settings, context: PolicyContext): GuardService {
  const client = guardClient(settings.service, context);
  const headOf = compileHead(settings, context.deps);
  return {
    name: client.name,
    async ask(question) {
      const { exchange, signal, phase, messages } = question;
      if (messages.length === 0) return passed;
      const body = phase === 'request' ? { messages } : { choices: messages.map((message) => ({ message })) };
      const { status, body: answer } = await client.send({ exchange, signal, ...headOf(question), body: { body } });
      return webhookAnswer(status, objectIn(answer), { phase, count: messages.length });
    },
  };
}
