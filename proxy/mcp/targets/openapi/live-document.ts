import type { JsonObject } from '../../../../src/shared/json.ts';
import type { LastingState } from '../../../policy/contract.ts';
import type { CompiledDocument } from './plan.ts';

/** A document as it is now: its file, or what stands at its address, may change while conversations last. */
export interface LiveDocument {
  /** Null while there is none. */
  current(): CompiledDocument | null;
  /** Calls after each change of the tools, and when it comes. What is returned takes it back. */
  watch(changed: () => void): () => void;
}

/** What a configuration says of a document. */
export interface Proposal {
  /** Null where it is not there yet. */
  readonly document: CompiledDocument | null;
  /** Begins to tell of changes from outside, and gives the way to stop. */
  readonly follow?: ((change: (document: CompiledDocument) => void) => () => void) | undefined;
}

/** The document of one target in one data thread, over reloads. */
export class KeptDocument implements LiveDocument, LastingState {
  readonly #watchers = new Set<() => void>();
  #current: CompiledDocument | null = null;
  #proposed: Proposal | null = null;
  #unfollow: (() => void) | null = null;

  current(): CompiledDocument | null {
    return this.#current;
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => void this.#watchers.delete(changed);
  }

  /** Counts once the configuration that says so is live. */
  propose(proposal: Proposal): void {
    this.#proposed = proposal;
    this.#current ??= proposal.document;
  }

  settled(): void {
    if (this.#proposed === null) return;
    const { document, follow } = this.#proposed;
    this.#proposed = null;
    this.#unfollow?.();
    if (document !== null) this.#change(document);
    this.#unfollow = follow?.((next) => this.#change(next)) ?? null;
  }

  retired(): void {}

  close(): Promise<void> {
    this.#unfollow?.();
    this.#watchers.clear();
    return Promise.resolve();
  }

  #change(document: CompiledDocument): void {
    const before = this.#current;
    this.#current = document;
    if (before === document || (before !== null && sameTools(before, document))) return;
    for (const changed of this.#watchers) changed();
  }
}

/** A document that never changes. */
export function fixedDocument(document: CompiledDocument): LiveDocument {
  return { current: () => document, watch: () => () => {} };
}

function sameTools(before: CompiledDocument, after: CompiledDocument): boolean {
  // One by one: the text of all of them may be longer than a text can be.
  const isSame = (tool: JsonObject, at: number): boolean => JSON.stringify(tool) === JSON.stringify(before.tools[at]);
  return before.tools.length === after.tools.length && after.tools.every(isSame);
}
