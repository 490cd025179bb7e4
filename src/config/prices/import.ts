import { GwError, messageOf } from '../../shared/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts';
import type { ModelCatalog, ModelPrices } from '../ir/model-catalog.ts';
import { litellm } from './litellm.ts';
import { modelsDev } from './models-dev.ts';

/** One model of a list. */
export interface Imported {
  /** Undefined for a provider that the gateway has no name for. */
  readonly identity: string | undefined;
  readonly provider: string;
  readonly model: string;
  readonly prices: ModelPrices;
}

/** Reads the price list of somebody else. */
export interface Importer {
  readonly name: string;
  fits(document: JsonObject): boolean;
  /** Models that are no longer offered are left out. */
  read(document: JsonObject, now: Date): readonly Imported[];
}

/** One line for each kind of list. */
const importers: readonly Importer[] = [litellm, modelsDev];

export interface ImportResult {
  readonly catalog: ModelCatalog;
  /** Whose list it was. */
  readonly from: string;
  readonly models: number;
  /** Providers that the gateway has no name for. */
  readonly unknown: readonly string[];
}

/** Makes a catalogue of a price list in JSON. Throws a `GwError` for what is none. */
export function importPrices(text: string, now: Date): ImportResult {
  const document = parsed(text);
  const importer = importers.find((each) => each.fits(document));
  if (importer === undefined)
    throw new GwError('this is neither the list of models.dev nor that of LiteLLM', {
      code: 'GW_PRICES',
      hint: 'take https://models.dev/api.json, or model_prices_and_context_window.json of LiteLLM',
    });
  const found = importer.read(document, now);
  const known = found.filter(({ identity }) => identity !== undefined);
  const unknown = new Set(found.filter(({ identity }) => identity === undefined).map(({ provider }) => provider));
  return { catalog: catalogOf(known), from: importer.name, models: known.length, unknown: [...unknown].toSorted() };
}

/** The first of several prices for one model stays. */
function catalogOf(found: readonly Imported[]): ModelCatalog {
  const providers = new Map<string, Map<string, ModelPrices>>();
  for (const { identity = '', model, prices } of found) {
    const models = providers.get(identity) ?? new Map<string, ModelPrices>();
    providers.set(identity, models);
    if (!models.has(model)) models.set(model, prices);
  }
  const sorted = [...providers].toSorted(byName).map(([identity, models]) => {
    return [identity, Object.fromEntries([...models].toSorted(byName))];
  });
  return { providers: Object.fromEntries(sorted) };
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

function parsed(text: string): JsonObject {
  let value: JsonValue;
  try {
    // `as`: the parser makes nothing else.
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new GwError(`the list is not JSON: ${messageOf(error)}`, { code: 'GW_PRICES', cause: error });
  }
  if (!isJsonObject(value)) throw new GwError('the list is not a JSON object', { code: 'GW_PRICES' });
  return value;
}
