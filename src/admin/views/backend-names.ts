interface Named {
  readonly name: string;
}

/** The key of a backend that stands in a route: the parent's key, the route, and its place there. */
const INLINE = /^(?:gateway|bind|routeGroup)\/.+\/([^/]+\/backend\d+)$/;

/**
 * Names for a table. A backend that a route holds itself has no name of its own but a key that repeats the gateway's: the
 * route and the place in it are enough, unless another row of the table would then read the same.
 */
export function shownBackendName(rows: readonly Named[]): (row: Named) => string {
  const owners = new Map<string, Set<string>>();
  for (const { name } of rows) {
    const short = shortName(name);
    owners.set(short, (owners.get(short) ?? new Set()).add(name));
  }
  return ({ name }) => (owners.get(shortName(name))?.size === 1 ? shortName(name) : name);
}

function shortName(name: string): string {
  return INLINE.exec(name)?.[1] ?? name;
}
