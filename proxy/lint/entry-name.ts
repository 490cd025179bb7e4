import { isMap } from './walk.ts';

/** How messages call an entry of a list of the file; routes without a name are counted. */
export function nameOfEntry(raw: unknown, [list, index]: readonly [list: string, index: number]): string | undefined {
  const entries = isMap(raw) ? raw[list] : undefined;
  const entry: unknown = Array.isArray(entries) ? entries[index] : undefined;
  if (!isMap(entry)) return undefined;
  const { name, namespace } = entry;
  if (isMap(name)) return `${String(name['namespace'])}/${String(name['name'])}`;
  if (list === 'backends') return String(name).replace(/^\//, '');
  return `${String(namespace ?? 'default')}/${String(name ?? `route${index}`)}`;
}
