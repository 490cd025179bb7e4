import type { ModelCatalog } from '../ir/model-catalog.ts';

/** A catalogue as files hold it, without what is empty. */
export function writtenCatalog({ providers }: ModelCatalog): object {
  return {
    providers: mapValues(providers, (models) => ({
      models: mapValues(models, ({ rates, tiers, tags }) => ({
        rates,
        ...(tiers.length > 0 ? { tiers } : {}),
        ...(tags.length > 0 ? { tags } : {}),
      })),
    })),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
