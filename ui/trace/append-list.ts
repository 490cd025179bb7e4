/** A list that only grows. Appending is constant time and leaves every earlier list as it was. */
export interface AppendList<T> {
  /** Shared with later lists; read only below `length`. */
  readonly items: readonly T[];
  readonly length: number;
}

export function emptyList<T>(): AppendList<T> {
  return { items: [], length: 0 };
}

/** The list with one more item; the storage is shared unless another list has already grown from this one. */
export function append<T>(list: AppendList<T>, item: T): AppendList<T> {
  if (list.items.length !== list.length)
    return { items: [...list.items.slice(0, list.length), item], length: list.length + 1 };
  /* The only writer of `items`; cells below any list's length never change. */
  (list.items as T[]).push(item);
  return { items: list.items, length: list.length + 1 };
}

/** How many items of an ascending list are at most `value`. */
export function countUpTo(list: AppendList<number>, value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((list.items[mid] ?? 0) <= value) low = mid + 1;
    else high = mid;
  }
  return low;
}
