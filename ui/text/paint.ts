import { colourTheme, type Style } from '../theme.ts';

/** Wraps text in the codes of a style, or hands it back as it is where colour is off. */
export type Paint = (style: Style, text: string) => string;

export const plainPaint: Paint = (_style, text) => text;

export const colourPaint: Paint = (style, text) => {
  const codes = colourTheme[style];
  return codes.length === 0 || text === '' ? text : `\u001B[${codes.join(';')}m${text}\u001B[0m`;
};

export interface ColourQuestion {
  readonly flag: 'auto' | 'always' | 'never';
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Decides for one stream: `--color`, then NO_COLOR, FORCE_COLOR and TERM=dumb, then whether it is a terminal. */
export function wantsColour({ flag, isTTY, env }: ColourQuestion): boolean {
  if (flag !== 'auto') return flag === 'always';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  return isTTY && env['TERM'] !== 'dumb';
}
