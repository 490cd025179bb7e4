import type { McpBackend } from '../../../src/config/ir/mcp.ts';

/** What a client's name stands for. */
export interface Owned {
  /** Position of the target. */
  readonly target: number;
  /** As the target itself calls it. */
  readonly name: string;
}

/** RFC 3986 section 3.1; templates (RFC 6570) with a literal scheme have it too. */
const scheme = /^[a-z][a-z0-9+.-]*:/i;
const ui = /^ui:\/\//i;
const uiLength = 'ui://'.length;

/**
 * Between the names of targets and those that clients see: `<target>_<name>` for tools and prompts, `<target>+<uri>`
 * for addresses and tasks, `ui://<target>+<rest>` for user interfaces, whose scheme clients look at.
 */
export class Naming {
  readonly targets: readonly string[];
  /** Tools and prompts carry their target. */
  readonly names: boolean;
  /** Addresses of resources and ids of tasks do. */
  readonly addresses: boolean;
  readonly #index: ReadonlyMap<string, number>;

  constructor(targets: readonly string[], mode: McpBackend['prefixMode']) {
    this.targets = targets;
    this.addresses = targets.length !== 1 || mode === 'always';
    this.names = this.addresses && mode !== 'never';
    this.#index = new Map(targets.map((name, at) => [name, at]));
  }

  /** -1 for a name that is none of a target. */
  indexOf(target: string): number {
    return this.#index.get(target) ?? -1;
  }

  nameOut(target: number, name: string): string {
    return this.names ? `${this.targets[target] ?? ''}_${name}` : name;
  }

  /** Null where the name says no target; not for `never` with several targets, where names alone do not tell. */
  nameIn(name: string): Owned | null {
    return this.names ? this.#owned(name, name.indexOf('_')) : { target: 0, name };
  }

  uriOut(target: number, uri: string): string {
    if (!this.addresses) return uri;
    const prefix = this.targets[target] ?? '';
    if (ui.test(uri)) return `${uri.slice(0, uiLength)}${prefix}+${uri.slice(uiLength)}`;
    return scheme.test(uri) ? `${prefix}+${uri}` : uri;
  }

  uriIn(uri: string): Owned | null {
    if (!this.addresses) return { target: 0, name: uri };
    if (ui.test(uri)) return this.#uiIn(uri);
    const owned = this.#owned(uri, uri.indexOf('+'));
    return owned === null || ui.test(owned.name) || !scheme.test(owned.name) ? null : owned;
  }

  taskOut(target: number, id: string): string {
    return this.addresses ? `${this.targets[target] ?? ''}+${id}` : id;
  }

  taskIn(id: string): Owned | null {
    return this.addresses ? this.#owned(id, id.indexOf('+')) : { target: 0, name: id };
  }

  /** The target stands in the authority: before any slash, question mark or number sign. */
  #uiIn(uri: string): Owned | null {
    const rest = uri.slice(uiLength);
    const plus = rest.indexOf('+');
    const authorityEnd = rest.search(/[/?#]/);
    if (authorityEnd !== -1 && plus > authorityEnd) return null;
    const owned = this.#owned(rest, plus);
    return owned === null ? null : { target: owned.target, name: `${uri.slice(0, uiLength)}${owned.name}` };
  }

  #owned(text: string, at: number): Owned | null {
    if (at <= 0) return null;
    const target = this.#index.get(text.slice(0, at));
    return target === undefined ? null : { target, name: text.slice(at + 1) };
  }
}
