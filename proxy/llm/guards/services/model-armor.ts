import type { Guard } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import type { PolicyContext } from '../../../policy/contract.ts';
import { GuardFailure } from '../contract.ts';
import { object } from '../../json.ts';
import { guardClient } from './client.ts';
import { type Answer, bodyOf, type GuardService, joined, passed } from './contract.ts';

type Settings = Extract<Guard, { kind: 'googleModelArmor' }>;

/** Results of filters, and where each says that it matched. */
const FILTERS = [
  ['raiFilterResult', 'rai'],
  ['piAndJailbreakFilterResult', 'piAndJailbreak'],
  ['maliciousUriFilterResult', 'maliciousUri'],
  ['csamFilterFilterResult', 'csam'],
  ['virusScanFilterResult', 'virusScan'],
] as const;

/** Google Model Armor: rejects what one of the filters of a template matches. */
export function modelArmor(
  { service, projectId, location, templateId }: Settings,
  context: PolicyContext,
): GuardService {
  const client = guardClient(service, context);
  const [project, place, template] = [projectId, location, templateId].map(encodeURIComponent);
  const base = `/v1/projects/${project}/locations/${place}/templates/${template}`;
  return {
    name: client.name,
    async ask({ exchange, signal, phase, messages }) {
      const said = { text: joined(messages) };
      if (said.text === '') return passed;
      const call =
        phase === 'request'
          ? { path: `${base}:sanitizeUserPrompt`, body: { user_prompt_data: said } }
          : { path: `${base}:sanitizeModelResponse`, body: { model_response_data: said } };
      return answerOf(bodyOf(await client.send({ exchange, signal, ...call })));
    },
  };
}

function answerOf(body: JsonObject): Answer {
  const result = object(body['sanitizationResult']);
  if (result === undefined) throw new GuardFailure('Model Armor tells no result');
  const matched = [...new Set(filterResults(result['filterResults']).flatMap(matches))];
  return matched.length === 0 ? passed : { kind: 'reject', what: matched.join(', ') };
}

/** By name of the filter, or as a list. */
function filterResults(value: JsonValue | undefined): readonly JsonObject[] {
  const all = Array.isArray(value) ? value : Object.values(object(value) ?? {});
  return all.filter(isJsonObject);
}

function matches(result: JsonObject): string[] {
  const found: string[] = FILTERS.filter(([field]) => isMatch(object(result[field]))).map(([, name]) => name);
  const sdp = object(result['sdpFilterResult']);
  if (isMatch(object(sdp?.['inspectResult'])) || isMatch(object(sdp?.['deidentifyResult']))) found.push('sdp');
  return found;
}

function isMatch(result: JsonObject | undefined): boolean {
  return result?.['matchState'] === 'MATCH_FOUND';
}
