import { isJsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { unusable } from './problem.ts';

/** The texts of a path and, between them, the names of its parameters. */
export function pathPlan(prefix: string, path: string, place: string): readonly string[] {
  if (!path.startsWith('/')) throw unusable(place, 'a path begins with /');
  if (/[?#]/.test(path)) throw unusable(place, 'a path has neither ? nor #');
  const parts = path.split(/\{([^{}/]+)\}/);
  return parts.map((part, index) => (index % 2 === 1 ? part : escaped(index === 0 ? prefix + part : part)));
}

/** The path of the one server that there may be, without a slash at its end; its host is where the target is. */
export function serverPath(servers: JsonValue | undefined, place: string): string {
  if (servers === undefined) return '';
  if (!Array.isArray(servers)) throw unusable(place, '`servers` is no list');
  const [server, ...others] = servers;
  if (server === undefined) return '';
  if (others.length > 0)
    throw unusable(place, 'there are several servers', 'leave one entry in `servers`: its path is used');
  if (!isJsonObject(server) || typeof server.url !== 'string') throw unusable(place, 'the server has no url');
  const url = filled(server.url, server.variables);
  const parsed = URL.parse(url, 'http://server.invalid/');
  if (parsed === null) throw unusable(place, `the address of the server, ${url}, is none`);
  return parsed.pathname.replace(/\/+$/, '');
}

/** Variables take their defaults. */
function filled(url: string, variables: JsonValue | undefined): string {
  return url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = isJsonObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isJsonObject(variable) && typeof variable.default === 'string' ? variable.default : whole;
  });
}

/** Leaves escapes alone, and escapes what a request line cannot have. */
function escaped(text: string): string {
  return encodeURI(text.toWellFormed()).replaceAll(/%25([0-9A-Fa-f]{2})/g, '%$1');
}
