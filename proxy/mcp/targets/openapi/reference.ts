import type { JsonObject } from '../../../../src/shared/json.ts';

/** The target of a reference object; null for anything else. */
export function referenceOf(value: JsonObject): string | null {
  const reference = Object.hasOwn(value, '$ref') ? value.$ref : undefined;
  return typeof reference === 'string' ? reference : null;
}

/** `#/components/<kind>/<name>`, the start of a reference; null for what leads elsewhere. */
export function ownerOf(reference: string): string | null {
  const [hash, components, kind, name] = reference.split('/', 4);
  if (hash !== '#' || components !== 'components' || kind === undefined || name === undefined) return null;
  return ownerNamed(unescaped(kind), unescaped(name));
}

/** The reference to a component; its names as they are. */
export function ownerNamed(kind: string, name: string): string {
  return `#/components/${escaped(kind)}/${escaped(name)}`;
}

/** RFC 6901 sections 3 and 6. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}
