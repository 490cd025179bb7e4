/** What the shop of the demo sells. */
export interface Item {
  readonly name: string;
  readonly about: string;
  /** In cents. */
  readonly price: number;
  left: number;
}

export const ITEMS = ['kettle', 'teapot', 'cup', 'tray'] as const;

export type ItemName = (typeof ITEMS)[number];

export type Stock = Readonly<Record<ItemName, Item>>;

/** A shop that has just opened; the tray is sold out. */
export function newStock(): Stock {
  return {
    kettle: { name: 'kettle', about: 'boils a litre of water for tea', price: 2990, left: 40 },
    teapot: { name: 'teapot', about: 'for tea, with a lid', price: 1850, left: 25 },
    cup: { name: 'cup', about: 'for tea or coffee', price: 490, left: 200 },
    tray: { name: 'tray', about: 'carries a teapot and four cups', price: 1200, left: 0 },
  };
}

export function lineOf({ name, about, price, left }: Item): string {
  return `${name}: ${about}, ${euros(price)}, ${left === 0 ? 'sold out' : `${left} left`}`;
}

export function euros(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}
