import type { AuthorizationRule } from '../../src/config/ir/index.ts';
import { isMap, under, type Path } from './walk.ts';

export type RulesPolicy = 'authorization' | 'mcpAuthorization';

/** Where the resource is written that a policy or rule names as its source; null when it is not found. */
export function placeOfSource(raw: unknown, source: string): Path | null {
  const policy = /^policy (\S+) on /.exec(source)?.[1];
  if (policy !== undefined) return placeOfPolicy(raw, policy);
  const backend = /^(route .*?) backend (\d+)$/.exec(source);
  const route = placeOfRoute(raw, backend?.[1] ?? source);
  if (route !== null) return backend === null ? route : [...route, 'backends', Number(backend[2])];
  if (source.startsWith('listener ')) return ['gateways'];
  return null;
}

function placeOfPolicy(raw: unknown, name: string): Path | null {
  const entries = isMap(raw) && Array.isArray(raw['policies']) ? raw['policies'] : [];
  const index = entries.findIndex((entry: unknown) => {
    const names = isMap(entry) ? entry['name'] : undefined;
    return isMap(names) && `${String(names['namespace'])}/${String(names['name'])}` === name;
  });
  return index === -1 ? null : ['policies', index];
}

function placeOfRoute(raw: unknown, source: string): Path | null {
  for (const { path, value } of under(raw, 'routes')) {
    if (!Array.isArray(value)) continue;
    const index = value.findIndex((each: unknown, at) => sourceOfRoute(each, at) === source);
    if (index !== -1) return [...path, index];
  }
  return null;
}

/** As the engine names it, see `routeSource`. */
export function sourceOfRoute(route: unknown, at: number): string | null {
  if (!isMap(route)) return null;
  const { name = `route${at}`, namespace = 'default', ruleName } = route;
  return `route ${String(namespace)}/${String(name)}${ruleName === undefined ? '' : ` rule ${String(ruleName)}`}`;
}

export function startsWith(path: Path, prefix: Path): boolean {
  return prefix.every((part, at) => path[at] === part);
}

/** Where a rule stands; within what it came from, where there are several like it. */
export function placeOfRule(raw: unknown, policy: RulesPolicy, rule: AuthorizationRule): Path | undefined {
  const places = [...under(raw, 'rules')].flatMap(({ path, value }): Path[] => {
    if (!Array.isArray(value) || path.at(-2) !== policy) return [];
    const index = value.findIndex((each: unknown) => expressionOf(each, rule.mode) === rule.expression);
    return index === -1 ? [] : [[...path, index]];
  });
  const within = rule.source === undefined ? null : placeOfSource(raw, rule.source);
  return places.find((each) => within !== null && startsWith(each, within)) ?? places[0];
}

function expressionOf(rule: unknown, mode: AuthorizationRule['mode']): unknown {
  if (typeof rule === 'string') return mode === 'allow' ? rule : undefined;
  return isMap(rule) ? rule[mode] : undefined;
}
