import { tooLong } from '../compile/operators.ts';
import { formatDouble, MAX_TEXT, textOf } from '../value/text.ts';
import {
  CelError,
  Double,
  failure,
  isBytes,
  isInt,
  isList,
  isMap,
  typeName,
  Uint,
  type CelMap,
  type Result,
  type Value,
} from '../value/value.ts';

const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z]))/y;
const MAX_PRECISION = 100;

/** `"%s is %d".format([…])` */
export function format(text: string, args: readonly Value[]): Result {
  let out = '';
  let next = 0;
  let at = 0;
  for (;;) {
    const percent = text.indexOf('%', at);
    out += percent === -1 ? text.slice(at) : text.slice(at, percent);
    if (out.length > MAX_TEXT) return tooLong();
    if (percent === -1) return out;
    CLAUSE.lastIndex = percent;
    const clause = CLAUSE.exec(text);
    if (clause === null) return failure('could not parse formatting clause: unexpected end or character');
    at = percent + clause[0].length;
    if (clause[0] === '%%') {
      out += '%';
      continue;
    }
    const value = args[next];
    if (value === undefined) return failure(`index ${next} out of range`);
    next++;
    const piece = formatOne(clause[2] ?? '', value, clause[1]);
    if (piece instanceof CelError) return piece;
    out += piece;
  }
}

function formatOne(letter: string, value: Value, digits: string | undefined): string | CelError {
  const precision = digits === undefined ? undefined : Number(digits);
  if (precision !== undefined && precision > MAX_PRECISION) return failure(`precision ${digits} is too large`);
  switch (letter) {
    case 's':
      return plain(value, { left: 10_000 });
    case 'd':
      return decimal(value);
    case 'f':
      return fixed(value, precision ?? 6);
    case 'e':
      return scientific(value, precision ?? 6);
    case 'b':
      return radix(
        typeof value === 'boolean' ? Number(value) : value,
        2,
        'only integers and bools can be formatted as binary',
      );
    case 'o':
      return radix(value, 8, 'octal clause can only be used on integers');
    case 'x':
      return hex(value);
    case 'X': {
      const lower = hex(value);
      return typeof lower === 'string' ? lower.toUpperCase() : lower;
    }
    default:
      return failure(`could not parse formatting clause: unrecognized formatting clause "${letter}"`);
  }
}

function wrong(rule: string, value: Value): CelError {
  return failure(`error during formatting: ${rule}, was given ${typeName(value)}`);
}

function notFinite(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? 'Infinity' : '-Infinity';
}

/** Text of any value; maps and lists as their literals would look without quotes. */
function plain(value: Value, steps: { left: number }): string | CelError {
  if (steps.left-- < 0) return new CelError('limit', 'the value is too large to format');
  if (value === null) return 'null';
  if (value instanceof Double) return Number.isFinite(value.value) ? formatDouble(value.value) : notFinite(value.value);
  if (isBytes(value)) return Buffer.from(value).toString('utf8');
  if (isList(value))
    return bracketed(
      '[',
      value.map((item) => plain(item, steps)),
      ']',
    );
  if (isMap(value)) return plainMap(value, steps);
  return textOf(value) ?? wrong('string clause can not be used on this type', value);
}

function plainMap(map: CelMap, steps: { left: number }): string | CelError {
  const entries = map
    .keys()
    .map((key): [string | CelError, string | CelError] => [plain(key, steps), plain(map.get(key) ?? null, steps)]);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return bracketed(
    '{',
    sorted.map(([key, value]) =>
      key instanceof CelError ? key : value instanceof CelError ? value : `${key}: ${value}`,
    ),
    '}',
  );
}

function bracketed(open: string, pieces: readonly (string | CelError)[], close: string): string | CelError {
  return pieces.find((piece) => piece instanceof CelError) ?? `${open}${pieces.join(', ')}${close}`;
}

function decimal(value: Value): string | CelError {
  if (isInt(value)) return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Double && !Number.isFinite(value.value)) return notFinite(value.value);
  return wrong('decimal clause can only be used on integers', value);
}

function fixed(value: Value, precision: number): string | CelError {
  const number = toNumber(value);
  if (number === undefined) return wrong('fixed-point clause can only be used on doubles', value);
  if (!Number.isFinite(number)) return notFinite(number);
  return Math.abs(number) < 1e21
    ? halfToEven(precision, (digits) => number.toFixed(digits))
    : `${BigInt(number)}${precision > 0 ? `.${'0'.repeat(precision)}` : ''}`;
}

function scientific(value: Value, precision: number): string | CelError {
  const number = toNumber(value);
  if (number === undefined) return wrong('scientific clause can only be used on doubles', value);
  if (!Number.isFinite(number)) return notFinite(number);
  return halfToEven(precision, (digits) => number.toExponential(digits)).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** JavaScript rounds a value that is exactly between two up; here the even one of them is meant. */
function halfToEven(precision: number, print: (digits: number) => string): string {
  const rounded = print(precision);
  const exact = print(MAX_PRECISION);
  const [, whole = '', fraction = '', exponent = ''] = /^([^.e]*)\.?(\d*)(e.*)?$/.exec(exact) ?? [];
  if (!/^50*$/.test(fraction.slice(precision))) return rounded;
  const truncated = precision === 0 ? whole : `${whole}.${fraction.slice(0, precision)}`;
  return /[02468]$/.test(truncated) ? `${truncated}${exponent}` : rounded;
}

function toNumber(value: Value): number | undefined {
  if (value instanceof Double) return value.value;
  if (isInt(value)) return Number(value);
  return value instanceof Uint ? Number(value.value) : undefined;
}

function radix(value: Value, base: number, rule: string): string | CelError {
  if (isInt(value)) return value.toString(base);
  return value instanceof Uint ? value.value.toString(base) : wrong(rule, value);
}

function hex(value: Value): string | CelError {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (isBytes(value)) return Buffer.from(value).toString('hex');
  return radix(value, 16, 'only integers, byte buffers, and strings can be formatted as hex');
}
