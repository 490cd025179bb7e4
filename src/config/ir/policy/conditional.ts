/** Settings that are chosen per request: the first entry that holds. A policy without conditions is a single entry. */
export interface Choice<T> {
  readonly entries: readonly ChoiceEntry<T>[];
}

export interface ChoiceEntry<T> {
  /** An expression; without one the entry always holds, which only the last may. */
  readonly condition?: string | undefined;
  readonly settings: T;
}
