import type { Body } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Headers } from '../../exchange/headers.ts';

/** A message before it is changed. */
export interface Before {
  readonly headers: Headers;
  readonly body: Body;
  /** Pseudo headers and their values. */
  readonly parts: readonly (readonly [name: string, value: string])[];
  readonly metadata: ReadonlySet<string>;
}

export function before(exchange: Exchange, message: { headers: Headers; body: Body }, parts: Before['parts']): Before {
  return { headers: message.headers.clone(), body: message.body, parts, metadata: metadataNames(exchange) };
}

/** Which names were added, changed and removed; never a value. */
export function describeChanges(
  exchange: Exchange,
  was: Before,
  now: { headers: Headers; body: Body; parts: Before['parts'] },
): string {
  const names = new Set([...was.headers.names, ...now.headers.names]);
  const added: string[] = [];
  const changed = now.parts.filter(([, value], i) => was.parts[i]?.[1] !== value).map(([name]) => name);
  const removed: string[] = [];
  for (const name of names) {
    if (!was.headers.has(name)) added.push(name);
    else if (!now.headers.has(name)) removed.push(name);
    else if (was.headers.getAll(name).join('\n') !== now.headers.getAll(name).join('\n')) changed.push(name);
  }
  const metadata = [...metadataNames(exchange)].filter((name) => !was.metadata.has(name));
  const body = now.body === was.body ? [] : [`body of ${now.body.length ?? '?'} bytes`];
  const told = [
    ...listed('added', added),
    ...listed('changed', changed),
    ...listed('removed', removed),
    ...listed('metadata', metadata),
    ...body,
  ];
  return told.length === 0 ? 'nothing changed' : told.join('; ');
}

function listed(word: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${word} ${names.join(', ')}`];
}

function metadataNames({ attributes: { metadata } }: Exchange): Set<string> {
  return new Set(metadata === null ? [] : Object.keys(metadata));
}
