import { paragraph } from '../text/paragraph.ts';
import { keyLine } from '../terminal/command.ts';
import { keepVisible } from '../terminal/list-window.ts';
import { drawPane, innerSize } from '../terminal/pane.ts';
import { emptyRow, fitSegments, row, seg, type Row, type Segment } from '../terminal/row.ts';
import { clean, fit, slice, width } from '../terminal/text.ts';
import { formFooter } from './commands.ts';
import type { Line } from './edit.ts';
import type { Field } from './fields.ts';
import { problemOf, type FormState } from './state.ts';

/** Narrower than this a form has no frame and no column of types. */
const WIDE = 60;
/** From this on each field has its description beside it. */
const VERY_WIDE = 100;
const MAX_NAME = 24;
const MAX_MESSAGE_ROWS = 4;
const MAX_ABOUT_ROWS = 3;

/** The whole form: never more rows than the terminal has. */
export function formRows(state: FormState): Row[] {
  const { columns, rows, fields } = state;
  const framed = columns >= WIDE && rows >= 10;
  const footer = keyLine(formFooter(state), columns);
  const above = messageRows(state, rows >= 16 ? MAX_MESSAGE_ROWS : rows >= 8 ? 1 : 0);
  const about = aboutRows(state, rows >= 16 ? MAX_ABOUT_ROWS : rows >= 7 ? 1 : 0);
  const room = Math.max(1, rows - above.length - about.length - 1);
  const { width: inner } = innerSize({ width: columns, height: room }, framed);
  const lines = fields.flatMap((field, at) => fieldRows(state, { field, at, columns: inner }));
  const height = Math.min(room, Math.max(1, lines.length) + (framed ? 2 : 1));
  const size = innerSize({ width: columns, height }, framed);
  const empty = Array.from({ length: room - height }, () => emptyRow);
  const from = lines.findIndex(({ at }) => at === state.focused);
  const last = lines.findLastIndex(({ at }) => at === state.focused);
  const top = keepVisible(keepVisible(0, last, size.height, lines.length), from, size.height, lines.length);
  const shown = lines.slice(top, top + size.height).map(({ drawn }) => drawn);
  const pane = drawPane(fields.length === 0 ? [row('  nothing to fill in', 'dim')] : shown, {
    title: state.title,
    note: fields.some(({ required }) => required) ? '* needed' : '',
    width: columns,
    height,
    focused: true,
    framed,
    top,
    count: lines.length,
  });
  return [...above, ...pane, ...about, ...empty, footer].slice(-rows).map((each) => ({
    ...each,
    segments: fitSegments(each.segments, columns),
  }));
}

function messageRows({ message, columns }: FormState, most: number): Row[] {
  const lines = message.split('\n').flatMap((line) => wrapped(clean(line), columns - 2));
  return message === '' ? [] : lines.slice(0, most).map((line) => row(` ${line}`));
}

/** What is known of the field in focus, and beneath it what is wrong. */
function aboutRows(state: FormState, most: number): Row[] {
  const field = state.fields[state.focused];
  if (field === undefined || most === 0) return [];
  const { name, title, description, choices, type } = field;
  const words = [
    title !== undefined && title !== name ? title : undefined,
    description,
    choices.length > 0 ? `${type} ${choices.map(({ label }) => label).join(', ')}` : undefined,
    state.columns < WIDE && choices.length === 0 ? type : undefined,
  ];
  const text = clean(words.filter((word) => word !== undefined).join(' – ')).replaceAll('␊', ' ');
  const lines = text === '' ? [] : wrapped(text, state.columns - 2).slice(0, most);
  // Always as many, so that the form does not jump from field to field.
  return Array.from({ length: most }, (_, at) => row(` ${lines[at] ?? ''}`, 'dim'));
}

function wrapped(text: string, columns: number): readonly string[] {
  return paragraph(text, Math.max(1, columns), 0).split('\n');
}

interface Placed {
  readonly at: number;
  readonly drawn: Row;
}

function fieldRows(
  state: FormState,
  { field, at, columns }: { readonly field: Field; readonly at: number; readonly columns: number },
): Placed[] {
  const focused = at === state.focused;
  const names = nameColumns(state, columns);
  const types = columns >= WIDE - 2 ? typeColumns(state) : 0;
  const abouts = columns >= VERY_WIDE - 2 ? Math.floor(columns * 0.35) : 0;
  const room = Math.max(1, columns - 2 - names - 1 - (types === 0 ? 0 : types + 1) - (abouts === 0 ? 0 : abouts + 2));
  const line = state.lines[at] ?? { text: '', at: 0 };
  const segments: Segment[] = [
    seg(focused ? '▸ ' : '  '),
    seg(fit(`${field.name}${field.required ? '*' : ''}`, names), focused ? 'bold' : 'key'),
    seg(' '),
    ...fitSegments(valueSegments(field, line, { focused, room }), room),
    ...(types === 0 ? [] : [seg(` ${fit(field.type, types)}`, 'dim')]),
    ...(abouts === 0 ? [] : [seg(`  ${fit(field.description ?? field.title ?? '', abouts)}`, 'dim')]),
  ];
  const problem = problemOf(state, at);
  const below = problem === undefined ? [] : [row(`  ${fit('', names)} ✗ ${problem}`, 'error')];
  return [{ segments }, ...below].map((drawn) => ({ at, drawn }));
}

function nameColumns({ fields }: FormState, columns: number): number {
  const longest = Math.max(0, ...fields.map(({ name, required }) => width(name) + (required ? 1 : 0)));
  return Math.max(1, Math.min(longest, MAX_NAME, Math.floor(columns * 0.4)));
}

function typeColumns({ fields }: FormState): number {
  return Math.min(20, Math.max(0, ...fields.map(({ type }) => width(type))));
}

function valueSegments(
  { kind }: Field,
  line: Line,
  { focused, room }: { readonly focused: boolean; readonly room: number },
): Segment[] {
  if (kind === 'choice' || kind === 'boolean') {
    const label = line.text === '' ? 'not given' : line.text;
    const style = line.text === '' ? 'dim' : 'string';
    return focused ? [seg('‹ ', 'key'), seg(label, style), seg(' ›', 'key')] : [seg(label, style)];
  }
  const style = kind === 'number' || kind === 'integer' ? 'number' : 'string';
  return focused ? written(line, room, style) : [seg(clean(line.text), style)];
}

/** The part of a line around its cursor. */
function written({ text, at }: Line, room: number, style: 'number' | 'string'): Segment[] {
  const characters = [...text];
  const before = clean(characters.slice(0, at).join(''));
  const [under = ' ', ...after] = characters.slice(at);
  const from = Math.max(0, width(before) - room + Math.min(8, Math.max(2, Math.floor(room / 4))));
  const cursor = clean(under);
  return [seg(slice(before, from, room), style), seg(cursor, 'selected'), seg(clean(after.join('')), style)];
}
