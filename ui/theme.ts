/** What a piece of text means; the theme decides how that looks. */
export type Style =
  | 'plain'
  | 'dim'
  | 'bold'
  | 'title'
  | 'success'
  | 'info'
  | 'warn'
  | 'error'
  | 'key'
  | 'string'
  | 'number'
  | 'null'
  | 'added'
  | 'removed'
  | 'selected'
  | 'selectedIdle'
  | 'match'
  | 'bar'
  | 'gap'
  | 'border'
  | 'borderFocus';

/** For each style the SGR parameters that switch it on; an empty list leaves the text as it is. */
export type Theme = Readonly<Record<Style, readonly number[]>>;

/** Attributes only: for `NO_COLOR`, and the base of the coloured theme. */
export const plainTheme: Theme = {
  plain: [],
  dim: [2],
  bold: [1],
  title: [1],
  success: [],
  info: [],
  warn: [],
  error: [1],
  key: [],
  string: [],
  number: [],
  null: [2],
  added: [1],
  removed: [2],
  selected: [7],
  selectedIdle: [4],
  match: [1, 4],
  bar: [],
  gap: [2],
  border: [2],
  borderFocus: [1],
};

/**
 * The 16 colours that every terminal's own palette fits to its background, and never a background of our own:
 * so it reads in light and in dark terminals.
 */
export const colourTheme: Theme = {
  ...plainTheme,
  success: [32],
  warn: [33],
  error: [31],
  key: [36],
  string: [32],
  number: [33],
  added: [32],
  removed: [31],
  match: [1, 4, 35],
  bar: [34],
  borderFocus: [36],
};

/** The theme that the environment asks for: `NO_COLOR` (any value but the empty one) and `TERM=dumb` mean no colour. */
export function themeFor(env: Readonly<Record<string, string | undefined>>): Theme {
  const refused = (env['NO_COLOR'] ?? '') !== '' || env['FORCE_COLOR'] === '0' || env['TERM'] === 'dumb';
  return refused ? plainTheme : colourTheme;
}
