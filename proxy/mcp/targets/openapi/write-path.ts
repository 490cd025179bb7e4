import type { JsonObject } from '../../../../src/shared/json.ts';
import type { CallPlan } from './plan.ts';
import type { Misfit } from './request.ts';
import { encode, expanded } from './values.ts';

export function writePath(template: CallPlan['path'], given: JsonObject): string | Misfit {
  let path = '';
  for (const part of template) {
    if (typeof part === 'string') path += part;
    else {
      const { name } = part;
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      const bare = expanded({ ...part, style: 'simple' }, value, (text) => text);
      if (bare === null || bare === '') return misfit(`the path parameter \`${name}\` is missing`);
      if (leadsUp(bare)) return misfit(`the path parameter \`${name}\` leads upwards`);
      path += expanded(part, value, encode) ?? '';
    }
  }
  // Servers take dots, escaped or not, for a way up: a value does not choose another operation.
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    return misfit('a path parameter is not made of dots alone');
  return path;
}

/** Servers that unescape slashes before they look at a path would call another operation. */
function leadsUp(text: string): boolean {
  return [text, unescaped(text)].some((each) => /[\\/]/.test(each) && /(?:^|[\\/])\.{1,2}(?:[\\/]|$)/.test(each));
}

function unescaped(text: string): string {
  return text.replaceAll(/%2e/gi, '.').replaceAll(/%2f/gi, '/').replaceAll(/%5c/gi, '\\');
}

function misfit(problem: string): Misfit {
  return { kind: 'misfit', problem };
}
