/** The first visible row, so that `selected` is on a screen of `height` rows out of `count`, moving as little as needed. */
export function keepVisible(top: number, selected: number, height: number, count: number): number {
  const wanted = selected < top ? selected : selected >= top + height ? selected - height + 1 : top;
  return clampTop(wanted, height, count);
}

/** A first visible row that leaves no empty space below while there are rows above. */
export function clampTop(top: number, height: number, count: number): number {
  return Math.max(0, Math.min(top, count - Math.max(1, height)));
}

export function clampIndex(index: number, count: number): number {
  return Math.max(0, Math.min(index, count - 1));
}

/** Which rows of a scroll bar of `height` cells are its thumb; undefined when everything is visible. */
export function thumb(top: number, height: number, count: number): { from: number; to: number } | undefined {
  if (height <= 0 || count <= height) return undefined;
  const size = Math.max(1, Math.round((height * height) / count));
  const from = Math.round((top / (count - height)) * (height - size));
  return { from, to: from + size };
}
