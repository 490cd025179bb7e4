import type { Headers } from '../../exchange/headers.ts';

/** Whether every `content-type`, of which there is at least one, is JSON; parameters do not matter. */
export function isJson(headers: Headers): boolean {
  const types = headers.getAll('content-type');
  return types.length > 0 && types.every((type) => essenceOf(type) === 'application/json');
}

/** Whether the client names each of the types; wildcards do not say that it knows what it gets. */
export function acceptsAll(headers: Headers, types: readonly string[]): boolean {
  const accepted = headers.getAll('accept').join(',').toLowerCase();
  return types.every((type) => accepted.includes(type));
}

function essenceOf(type: string): string {
  const semicolon = type.indexOf(';');
  return (semicolon === -1 ? type : type.slice(0, semicolon)).trim().toLowerCase();
}
