import { unescape } from 'node:querystring';

/** The first value of a query parameter, form-decoded; null when there is none. */
export function readParameter(target: string, name: string): string | null {
  for (let at = target.indexOf('?') + 1; at > 0;) {
    const end = endOf(target, at);
    const equals = target.indexOf('=', at);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    if (nameEnd > at && isNamed(target, { from: at, to: nameEnd }, name)) return decode(target.slice(nameEnd + 1, end));
    at = end < target.length ? end + 1 : 0;
  }
  return null;
}

/** The target without the parameters of that name; the bytes of the others stay as they are. */
export function removeParameter(target: string, name: string): string {
  const query = target.indexOf('?');
  if (query === -1) return target;
  const pairs = target.slice(query + 1).split('&');
  const kept = pairs.filter((pair) => !isPairOf(pair, name));
  if (kept.length === pairs.length) return target;
  return kept.length === 0 ? target.slice(0, query) : `${target.slice(0, query)}?${kept.join('&')}`;
}

/** The target without the parameters of that name but the first. */
export function keepFirstParameter(target: string, name: string): string {
  const query = target.indexOf('?');
  if (query === -1) return target;
  let seen = false;
  const kept = target
    .slice(query + 1)
    .split('&')
    .filter((pair) => {
      if (!isPairOf(pair, name)) return true;
      const first = !seen;
      seen = true;
      return first;
    });
  return `${target.slice(0, query)}?${kept.join('&')}`;
}

/** The target with `name=value`, encoded, in the place of the first parameter of that name, else behind the others. */
export function insertParameter(target: string, name: string, value: string): string {
  const pair = `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`;
  const query = target.indexOf('?');
  if (query === -1) return `${target}?${pair}`;
  let placed = false;
  const pairs = target
    .slice(query + 1)
    .split('&')
    .flatMap((other) => {
      if (!isPairOf(other, name)) return [other];
      const first = !placed;
      placed = true;
      return first ? [pair] : [];
    });
  if (!placed) pairs.push(pair);
  return `${target.slice(0, query)}?${pairs.filter((other) => other !== '').join('&')}`;
}

function endOf(target: string, from: number): number {
  const end = target.indexOf('&', from);
  return end === -1 ? target.length : end;
}

function isPairOf(pair: string, name: string): boolean {
  const equals = pair.indexOf('=');
  const to = equals === -1 ? pair.length : equals;
  return to > 0 && isNamed(pair, { from: 0, to }, name);
}

function isNamed(text: string, { from, to }: { readonly from: number; readonly to: number }, name: string): boolean {
  if (to - from === name.length && text.startsWith(name, from) && !/[%+]/.test(name)) return true;
  // Decoding never makes a name longer, so most names need none.
  if (to - from < name.length) return false;
  const raw = text.slice(from, to);
  return /[%+]/.test(raw) && decode(raw) === name;
}

/** As forms encode: `+` is a space; broken escapes stand for themselves. */
function decode(raw: string): string {
  return unescape(raw.includes('+') ? raw.replaceAll('+', ' ') : raw);
}
