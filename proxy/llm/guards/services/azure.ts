import type { Guard } from '../../../../src/config/ir/llm.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';
import type { PolicyContext } from '../../../policy/contract.ts';
import { GuardFailure } from '../contract.ts';
import { list, number, object, objects, text } from '../../json.ts';
import { type GuardClient, guardClient } from './client.ts';
import { type Answer, bodyOf, type GuardService, joined, passed, type Question } from './contract.ts';

type Settings = Extract<Guard, { kind: 'azureContentSafety' }>;
type Analysis = NonNullable<Settings['analyzeText']>;

/** Azure AI Content Safety: severities by category, blocklists, and attempts to get around the model's rules. */
export function azureContentSafety(settings: Settings, context: PolicyContext): GuardService {
  const client = guardClient(settings.service, context);
  return {
    name: client.name,
    async ask(question) {
      const said = joined(question.messages);
      if (said === '') return passed;
      const { analyzeText, detectJailbreak } = settings;
      const analyzed = analyzeText === undefined ? passed : await analyze(client, question, { said, analyzeText });
      if (analyzed.kind !== 'pass' || detectJailbreak === undefined || question.phase === 'response') return analyzed;
      return jailbreak(client, question, { said, apiVersion: detectJailbreak.apiVersion });
    },
  };
}

async function analyze(
  client: GuardClient,
  { exchange, signal }: Question,
  { said, analyzeText }: { readonly said: string; readonly analyzeText: Analysis },
): Promise<Answer> {
  const { apiVersion, blocklistNames, haltOnBlocklistHit, severityThreshold } = analyzeText;
  const lists = blocklistNames.length === 0 ? {} : { blocklistNames, haltOnBlocklistHit };
  const path = `/contentsafety/text:analyze?api-version=${encodeURIComponent(apiVersion)}`;
  const body = bodyOf(await client.send({ exchange, signal, path, body: { text: said, ...lists } }));
  const categories = list(body['categoriesAnalysis']);
  const listed = list(body['blocklistsMatch']);
  if (categories === undefined && listed === undefined) throw new GuardFailure('content safety tells no analysis');
  return severe(body, severityThreshold);
}

function severe(body: JsonObject, threshold: number): Answer {
  const found = objects(body['categoriesAnalysis'])
    .filter((category) => (number(category['severity']) ?? 0) >= threshold)
    .map((category) => text(category['category']) ?? 'category');
  if ((list(body['blocklistsMatch'])?.length ?? 0) > 0) found.push('blocklist');
  return found.length === 0 ? passed : { kind: 'reject', what: found.join(', ') };
}

async function jailbreak(
  client: GuardClient,
  { exchange, signal }: Question,
  { said, apiVersion }: { readonly said: string; readonly apiVersion: string },
): Promise<Answer> {
  const path = `/contentsafety/text:detectJailbreak?api-version=${encodeURIComponent(apiVersion)}`;
  const body = bodyOf(await client.send({ exchange, signal, path, body: { text: said } }));
  const analysis = object(body['jailbreakAnalysis']);
  if (analysis === undefined) throw new GuardFailure('content safety tells nothing of jailbreaks');
  return analysis['detected'] === true ? { kind: 'reject', what: 'jailbreak' } : passed;
}
