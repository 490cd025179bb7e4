import { parse } from 'yaml';
import type { z } from 'zod';
import { messageOf } from '../../shared/errors.ts';
import type { ModelCatalog, ModelPrices, PriceTier } from '../ir/model-catalog.ts';
import type { Path } from '../load/problem.ts';
import { type CatalogSourceSpec, type CatalogSpec, catalogText } from '../schema/model-catalog.ts';
import { shippedPrices } from '../shipped-prices.ts';
import type { Context } from './context.ts';

/** `config.modelCatalog`: the sources laid over each other. Undefined where nobody says what models cost. */
export function modelCatalog(
  context: Context,
  sources: readonly CatalogSourceSpec[] | undefined,
): ModelCatalog | undefined {
  if (sources === undefined || sources.length === 0) return undefined;
  const found = sources.map((source, index) => catalogOf(context, source, ['config', 'modelCatalog', index]));
  const missing = found.filter((catalog) => catalog === 'missing').length;
  for (const [index, catalog] of found.entries()) {
    if (catalog !== 'missing') continue;
    const path = ['config', 'modelCatalog', index, 'file'];
    const all = missing === found.length;
    const message = `there is no file ${sources[index]?.file ?? ''}${all ? ', nor any other source of prices' : ': its prices are left out'}`;
    context.report(path, 'GW_CONFIG_FILE', message, { severity: all ? 'error' : 'warning' });
  }
  return mergeCatalogs(found.filter((catalog) => catalog !== 'missing' && catalog !== null));
}

/** Null after a problem, and while a file is not read yet. */
function catalogOf(context: Context, { file, inline, builtin }: CatalogSourceSpec, path: Path) {
  if (builtin === true) return shippedPrices();
  if (typeof inline === 'string') return told(context, catalogFromText(inline), [...path, 'inline']);
  if (inline !== undefined) return filled(inline);
  const content = context.files.get(context.files.absolute(file ?? ''));
  if (content === undefined) return null;
  if (content.kind === 'text') return told(context, catalogFromText(content.text), [...path, 'file']);
  if (content.missing === true) return 'missing';
  context.report([...path, 'file'], 'GW_CONFIG_FILE', content.message);
  return null;
}

function told(context: Context, catalog: ModelCatalog | string, path: Path): ModelCatalog | null {
  if (typeof catalog !== 'string') return catalog;
  context.report(path, 'GW_CONFIG_VALUE', `not a catalogue of prices: ${catalog}`);
  return null;
}

/** A catalogue from its text, JSON or YAML; a text says what is wrong with it. */
export function catalogFromText(text: string): ModelCatalog | string {
  let value: unknown;
  try {
    // Catalogues may be large, and most are JSON, which is read much faster.
    value = text.trimStart().startsWith('{') ? parseJson(text) : parse(text);
  } catch (error) {
    return messageOf(error).split('\n', 1)[0] ?? 'it cannot be read';
  }
  const decoded = catalogText.safeParse(value);
  return decoded.success ? filled(decoded.data) : problemIn(decoded.error);
}

/** Maps in braces are YAML too. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parse(text);
  }
}

function problemIn({ issues }: z.ZodError): string {
  const [first] = issues;
  if (first === undefined) return 'it cannot be read';
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return `${first.path.length === 0 ? '' : `${first.path.join('.')}: `}${first.message}${more}`;
}

function filled({ providers }: CatalogSpec): ModelCatalog {
  return {
    providers: mapValues(providers, ({ models }) =>
      mapValues(models, ({ rates, tiers, tags }) => ({ rates: rates ?? {}, tiers: tiers ?? [], tags: tags ?? [] })),
    ),
  };
}

/** Later ones win: rate by rate, tiers as a whole, tags together. */
function mergeCatalogs(catalogs: readonly ModelCatalog[]): ModelCatalog {
  const providers = new Map<string, Map<string, ModelPrices>>();
  for (const catalog of catalogs)
    for (const [identity, models] of Object.entries(catalog.providers)) {
      const known = providers.get(identity) ?? new Map<string, ModelPrices>();
      providers.set(identity, known);
      for (const [model, prices] of Object.entries(models)) known.set(model, merged(known.get(model), prices));
    }
  return {
    providers: Object.fromEntries([...providers].map(([identity, models]) => [identity, Object.fromEntries(models)])),
  };
}

function merged(below: ModelPrices | undefined, above: ModelPrices): ModelPrices {
  if (below === undefined) return above;
  const tiers: readonly PriceTier[] = above.tiers.length > 0 ? above.tiers : below.tiers;
  return { rates: { ...below.rates, ...above.rates }, tiers, tags: [...new Set([...below.tags, ...above.tags])] };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
