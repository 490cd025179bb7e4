import type { Path } from '../load/problem.ts';
import type { Specs } from '../load/specs.ts';
import type { Context } from './context.ts';
import type { BindDraft, ListenerDraft } from './listener.ts';
import { httpRoute, tcpRoute } from './route.ts';

type Family = 'HTTP' | 'TCP';

/** Puts the routes of the top level into the listeners they name, each with a key of its own there. */
export function attachRoutes(context: Context, specs: Specs, binds: readonly BindDraft[]): void {
  const attachment = new Attachment(context, binds);
  for (const [index, spec] of specs.routes.entries()) {
    if (spec === undefined) continue;
    const path = ['routes', index];
    const attachedTo = `routes/${(spec.gateways ?? []).join()}`;
    for (const listener of attachment.listeners(spec.gateways, 'HTTP', path)) {
      const place = { path, index, parent: listener.key, attachedTo };
      listener.routes.push({ path, route: httpRoute(context, spec, place) });
    }
  }
  for (const [index, spec] of specs.tcpRoutes.entries()) {
    if (spec === undefined) continue;
    const path = ['tcpRoutes', index];
    for (const listener of attachment.listeners(spec.gateways, 'TCP', path)) {
      listener.tcpRoutes.push({ path, route: tcpRoute(context, spec, { path, index, parent: listener.key }) });
    }
  }
}

/** The HTTP listeners that are named; tells of names that lead nowhere. */
export function attachedListeners(
  context: Context,
  binds: readonly BindDraft[],
  { refs, path }: { readonly refs: readonly string[]; readonly path: Path },
): readonly ListenerDraft[] {
  return new Attachment(context, binds).listeners(refs, 'HTTP', path);
}

/** The HTTP listeners of the gateway called `default`. */
export function defaultListeners(binds: readonly BindDraft[]): readonly ListenerDraft[] {
  return binds
    .flatMap((bind) => bind.listeners)
    .filter((listener) => listener.gateway === 'default' && familyOf(listener) === 'HTTP');
}

class Attachment {
  readonly #context: Context;
  readonly #byGateway: Map<string, readonly ListenerDraft[]>;

  constructor(context: Context, binds: readonly BindDraft[]) {
    this.#context = context;
    const drafts = binds.flatMap((bind) => bind.listeners);
    this.#byGateway = new Map();
    for (const draft of drafts) {
      if (draft.gateway !== undefined)
        this.#byGateway.set(draft.gateway, [...(this.#byGateway.get(draft.gateway) ?? []), draft]);
    }
  }

  /** The listeners that a route attaches to; tells of references that lead nowhere. */
  listeners(refs: readonly string[] | undefined, family: Family, path: Path): ListenerDraft[] {
    if (refs === undefined) return this.#implicit(family, path);
    const found = refs.flatMap((ref, index) =>
      this.#referenced(ref, family, refs.length === 1 ? [...path, 'gateways'] : [...path, 'gateways', index]),
    );
    return [...new Set(found)];
  }

  #implicit(family: Family, path: Path): ListenerDraft[] {
    const known = this.#byGateway.get('default');
    const fitting = (known ?? []).filter((listener) => familyOf(listener) === family);
    const unknowable = known === undefined && this.#context.names.gateways.has('default');
    if (fitting.length === 0 && !unknowable) {
      const reason =
        known === undefined
          ? 'there is no gateway called `default`'
          : `the gateway \`default\` has no ${family} listener`;
      this.#context.report(path, 'GW_CONFIG_REFERENCE', `the route has no \`gateways\`, and ${reason}`, {
        hint: 'say where it attaches with `gateways`',
      });
    }
    return fitting;
  }

  #referenced(ref: string, family: Family, path: Path): readonly ListenerDraft[] {
    const slash = ref.indexOf('/');
    const gateway = slash === -1 ? ref : ref.slice(0, slash);
    const known = this.#byGateway.get(gateway);
    // A gateway that is not there was told while screening; one that is there but broken has problems of its own.
    if (known === undefined) return [];
    const named = slash === -1 ? known : known.filter((listener) => listener.name === ref);
    const fitting = named.filter((listener) => familyOf(listener) === family);
    if (named.length === 0) {
      const names = known.map((listener) => listener.name).join(', ');
      this.#context.report(
        path,
        'GW_CONFIG_REFERENCE',
        `the gateway ${JSON.stringify(gateway)} has no listener ${JSON.stringify(ref.slice(slash + 1))}`,
        { hint: `what it has: ${names}` },
      );
    } else if (fitting.length === 0) {
      this.#context.report(
        path,
        'GW_CONFIG_REFERENCE',
        `${JSON.stringify(ref)} has no ${family} listener for this route`,
      );
    }
    return fitting;
  }
}

function familyOf(listener: ListenerDraft): Family {
  return listener.spoken === 'HTTP' || listener.spoken === 'HTTPS' ? 'HTTP' : 'TCP';
}
