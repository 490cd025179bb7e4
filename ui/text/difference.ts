import { asObject } from '../../src/admin/protocol/lenient.ts';
import type { DumpDifference } from '../../src/admin/views/dump-difference.ts';
import { clean } from '../terminal/text.ts';
import type { Style } from '../theme.ts';
import { plainPaint, type Paint } from './paint.ts';

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;
const STYLES: Readonly<Record<DumpDifference['kind'], Style>> = { added: 'added', removed: 'removed', changed: 'warn' };

/** The names of both sides, then each resource that differs with what differs in it; empty when nothing does. */
export function renderDifferences(
  differences: readonly DumpDifference[],
  sides: { readonly before: string; readonly after: string },
  paint: Paint = plainPaint,
): string {
  if (differences.length === 0) return '';
  const heads = [paint('removed', clean(`--- ${sides.before}`)), paint('added', clean(`+++ ${sides.after}`))];
  const blocks = [...grouped(differences)].flatMap((group) => resourceLines(group, paint));
  return [...heads, ...blocks].map((line) => `${line}\n`).join('');
}

function grouped(differences: readonly DumpDifference[]): Iterable<readonly DumpDifference[]> {
  return Map.groupBy(differences, ({ resource, key }) => `${resource} ${key}`).values();
}

function resourceLines(group: readonly DumpDifference[], paint: Paint): readonly string[] {
  const [first] = group;
  if (first === undefined) return [];
  const { resource, key, path, kind } = first;
  const whole = path === '' ? kind : 'changed';
  const head = paint(STYLES[whole], clean(`${SIGNS[whole]} ${resource} ${key}`.trimEnd()));
  return [head, ...group.flatMap(partsOf).map((part) => partLine(part, paint))];
}

type Part = Pick<DumpDifference, 'kind' | 'path' | 'before' | 'after'>;

/** A resource that came or went is shown key by key. */
function partsOf(difference: DumpDifference): readonly Part[] {
  const { kind, path, before, after } = difference;
  if (path !== '') return [difference];
  return Object.entries(asObject(after ?? before))
    .filter(([key, value]) => key !== 'key' && value !== null && value !== undefined)
    .map(([key, value]) => ({ kind, path: key, ...(kind === 'removed' ? { before: value } : { after: value }) }));
}

function partLine({ kind, path, before, after }: Part, paint: Paint): string {
  const values = [before, after].filter((value) => value !== undefined).map((value) => JSON.stringify(value));
  return `    ${paint(STYLES[kind], clean(`${SIGNS[kind]} ${path}: ${values.join(' → ')}`))}`;
}
