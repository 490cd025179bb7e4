import type { Guard } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import type { PolicyContext } from '../../../policy/contract.ts';
import { GuardFailure } from '../contract.ts';
import { objects, text } from '../../json.ts';
import { guardClient } from './client.ts';
import { type Answer, bodyOf, type GuardService, passed } from './contract.ts';

type Settings = Extract<Guard, { kind: 'bedrockGuardrails' }>;

/** `ApplyGuardrail` of Amazon Bedrock: rejects, or gives the texts back anonymized. */
export function bedrockGuardrails({ service, identifier, version }: Settings, context: PolicyContext): GuardService {
  const client = guardClient(service, context);
  const path = `/guardrail/${encodeURIComponent(identifier)}/version/${encodeURIComponent(version)}/apply`;
  return {
    name: client.name,
    async ask({ exchange, signal, phase, texts }) {
      const sent = texts();
      if (sent.length === 0) return passed;
      const source = phase === 'request' ? 'INPUT' : 'OUTPUT';
      const content = sent.map((each) => ({ text: { text: each } }));
      const answer = await client.send({ exchange, signal, path, body: { source, content } });
      return answerOf(bodyOf(answer), sent.length);
    },
  };
}

function answerOf(body: JsonObject, count: number): Answer {
  const action = text(body['action']);
  if (action === 'NONE') return passed;
  if (action !== 'GUARDRAIL_INTERVENED') throw new GuardFailure('the guardrail tells no action');
  const actions = new Set<string>();
  collectActions(body['assessments'] ?? null, actions);
  const outputs = objects(body['outputs']).flatMap(({ text: output }) => (typeof output === 'string' ? [output] : []));
  // What is anonymized may pass; what is blocked, or cannot be put in its place, may not.
  if (actions.has('ANONYMIZED') && !actions.has('BLOCKED') && outputs.length === count)
    return { kind: 'texts', texts: outputs, what: 'anonymized' };
  return { kind: 'reject', what: 'intervened' };
}

const MAX_DEPTH = 32;

/** Assessments have their actions at different places. */
function collectActions(value: JsonValue, into: Set<string>, depth = 0): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value) collectActions(item, into, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, field] of Object.entries(value)) {
    if (name === 'action' && typeof field === 'string') into.add(field);
    else collectActions(field, into, depth + 1);
  }
}
