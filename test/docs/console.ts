/** One command of a console block and the output that the page shows for it. */
export interface Step {
  readonly command: string;
  readonly expected: readonly string[];
}

/** `$ ` begins a command, `> ` goes on with it, everything else is output. */
export function steps(block: string): readonly Step[] {
  const found: { command: string; expected: string[] }[] = [];
  for (const line of block.replace(/\n$/, '').split('\n')) {
    const last = found.at(-1);
    if (line.startsWith('$ ')) found.push({ command: line.slice(2), expected: [] });
    else if (last === undefined) throw new Error(`output without a command: ${line}`);
    else if (line.startsWith('> ') && last.expected.length === 0) last.command += `\n${line.slice(2)}`;
    else last.expected.push(line);
  }
  return found;
}

/** What differs between two runs: times, durations, sizes, ids, percentages. The longer forms come first. */
const VARYING = [
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/,
  /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/,
  /[0-9a-f]{8}-\d+-\d+/,
  /\b[0-9a-f]{12}\b/,
  /\b(?:\d+h)?\d+m\d+(?:\.\d+)?s\b/,
  /\b\d+(?:\.\d+)?(?:ns|µs|ms|s)\b/,
  /\b\d+(?:\.\d+)? (?:B|KiB|MiB)(?!\w)/,
  /\b\d+(?:\.\d+)? ?%/,
];
const TOKEN = new RegExp(`(…|\\s+|${VARYING.map(({ source }) => source).join('|')})`);

/** A pattern for one line of output: what varies may be another of its kind, `…` anything, blanks any number of blanks. */
function linePattern(line: string): string {
  if (line.trim() === '…') return '(?:.*\\n)*?';
  const parts = line.trimEnd().split(TOKEN);
  return `${parts.map(partPattern).join('')}[ \\t]*\\n`;
}

function partPattern(part: string): string {
  if (part === '…') return '.*?';
  if (/^\s+$/.test(part)) return '[ \\t]+';
  const kind = VARYING.find(({ source }) => new RegExp(`^(?:${source})$`).test(part));
  return kind === undefined ? part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&') : `(?:${kind.source})`;
}

/** Lines that say which of several steps was the slowest differ from run to run altogether. */
const ANYTHING = /^slowest step: /;

/** Whether a program said what the page shows. */
export function agrees(expected: readonly string[], actual: string): boolean {
  const patterns = expected.map((line) => (ANYTHING.test(line) ? 'slowest step: .*\\n' : linePattern(line)));
  return new RegExp(`^${patterns.join('')}$`).test(`${actual.trimEnd()}\n`);
}
