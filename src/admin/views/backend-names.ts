interface Named {
  readonly name: string;
}

/** The key of a backend that stands in a route: the parent's key, the route, and its place there. */
const INLINE = /^(?:gateway|bind|routeGroup)\/.+\/backend\d+$/;

/**
 * Names for a table. A backend that a route holds itself has no name of its own but a key that repeats the gateway's: of
 * that the end is shown, `shop/backend0`, and as much before it as tells it from the other rows.
 */
export function shownBackendName(rows: readonly Named[]): (row: Named) => string {
  const owners = new Map<string, Set<string>>();
  const names = new Set(rows.map(({ name }) => name));
  for (const name of names) {
    for (const form of formsOf(name)) owners.set(form, (owners.get(form) ?? new Set()).add(name));
  }
  // A backend without a namespace begins with the slash that would stand behind one.
  return ({ name }) => (formsOf(name).find((form) => owners.get(form)?.size === 1) ?? name).replace(/^\//, '');
}

/** Ever longer ends of the key, up to the whole; of any other name only itself. */
function formsOf(name: string): readonly string[] {
  if (!INLINE.test(name)) return [name];
  const parts = name.split('/');
  return parts.slice(1).map((_, at) => parts.slice(-2 - at).join('/'));
}
