import type { McpItem } from '../guard/contract.ts';

/** Of each kind at each target. */
const MAX_NAMES = 1000;
/** MCP has 128 for names; addresses are longer. */
const MAX_CHARACTERS = 256;

/**
 * Names that targets have shown to be theirs: in a list, or by answering to them. Metrics name these alone, as clients can
 * make up any number of others.
 */
export class KnownNames {
  readonly #names = new Map<string, Set<string>>();

  add(target: number, kind: McpItem['kind'], name: string): void {
    if (name.length > MAX_CHARACTERS) return;
    const place = `${target} ${kind}`;
    let names = this.#names.get(place);
    if (names === undefined) this.#names.set(place, (names = new Set()));
    if (names.size < MAX_NAMES) names.add(name);
  }

  /** False also for names beyond the number that is kept. */
  has(target: number, kind: McpItem['kind'], name: string): boolean {
    return this.#names.get(`${target} ${kind}`)?.has(name) === true;
  }
}
