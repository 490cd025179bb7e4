import type { JsonValue } from '../../exchange/attributes.ts';
import { number } from '../json.ts';
import type { Notes } from './contract.ts';

/** The most that Anthropic and Bedrock take; OpenAI goes on to 2. */
const MOST = 1;

export function limitedTemperature(value: JsonValue | undefined, notes: Notes): number | undefined {
  const temperature = number(value);
  if (temperature === undefined || temperature <= MOST) return temperature;
  notes.renamed('temperature', `${MOST}, the most that the service takes`);
  return MOST;
}
