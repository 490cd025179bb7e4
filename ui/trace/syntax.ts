import { seg, type Segment } from '../terminal/row.ts';
import type { Style } from '../theme.ts';
import type { Format } from './detail.ts';

const YAML_KEY = /^(\s*(?:- )*)((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s#"'[{][^:#]*?)):(?=\s|$)/;
const JSON_PART = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false)\b|\b(null)\b/g;

/** The segments of one line of YAML or JSON; `inBlock` is true inside a YAML block scalar. */
export function highlightLine(line: string, format: Format, inBlock: boolean): Segment[] {
  if (format === 'json') return jsonSegments(line);
  if (inBlock) return [seg(line, 'string')];
  // The line of a call that failed, in the tree of calls.
  if (line.startsWith('#')) return [seg(line, /^# [├╰] ✗/.test(line) ? 'error' : 'plain')];
  const key = YAML_KEY.exec(line);
  if (key === null) return yamlItem(line);
  const [matched, indent = '', name = ''] = key;
  const rest = line.slice(matched.length);
  return [seg(indent), seg(name, 'key'), seg(':', 'dim'), ...yamlValue(rest)];
}

/** For each line of a YAML text whether it lies inside a block scalar. */
export function blockLines(lines: readonly string[]): boolean[] {
  let blockIndent = -1;
  return lines.map((line) => {
    const indent = line.length - line.trimStart().length;
    if (blockIndent >= 0 && (line.trim() === '' || indent > blockIndent)) return true;
    blockIndent = /(?:^|[:-] )[|>][+-]?\d*[+-]?$/.test(line) ? blockOwner(line) : -1;
    return false;
  });
}

/** The column that the lines of a block must be right of: that of its key, or of its dash. */
function blockOwner(line: string): number {
  const indent = line.length - line.trimStart().length;
  const dashes = /^\s*((?:- )*)(?=\S+.*:)/.exec(line)?.[1]?.length ?? 0;
  return indent + dashes;
}

function yamlItem(line: string): Segment[] {
  const dashes = /^(\s*(?:- )+)(.*)$/.exec(line);
  if (dashes === null) return [seg(line, valueStyle(line.trim()))];
  return [seg(dashes[1] ?? '', 'dim'), seg(dashes[2] ?? '', valueStyle(dashes[2] ?? ''))];
}

function yamlValue(text: string): Segment[] {
  return text === '' ? [] : [seg(text, valueStyle(text.trim()))];
}

function valueStyle(value: string): Style {
  if (value === 'null' || value === '~') return 'null';
  if (value === 'true' || value === 'false' || /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)) return 'number';
  return /^[|>][+-]?\d*$/.test(value) || value === '{}' || value === '[]' ? 'dim' : 'string';
}

function jsonSegments(line: string): Segment[] {
  const out: Segment[] = [];
  let from = 0;
  for (const part of line.matchAll(JSON_PART)) {
    if (part.index > from) out.push(seg(line.slice(from, part.index), 'dim'));
    out.push(...jsonPart(part));
    from = part.index + part[0].length;
  }
  if (from < line.length) out.push(seg(line.slice(from), 'dim'));
  return out;
}

function jsonPart(part: RegExpExecArray): Segment[] {
  const [all, text, colon, number, boolean] = part;
  if (text !== undefined && colon !== undefined) return [seg(text, 'key'), seg(colon, 'dim')];
  if (text !== undefined) return [seg(text, 'string')];
  return [seg(all, number !== undefined || boolean !== undefined ? 'number' : 'null')];
}
