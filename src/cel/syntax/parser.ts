import type { Value } from '../value/value.ts';
import { negate } from '../value/number.ts';
import { CelError, isInt } from '../value/value.ts';
import { partsOf, type ArithmeticOp, type Expr, type ListItem, type MapEntry, type RelationOp } from './ast.ts';
import { tokenize, type Token } from './lexer.ts';
import { expandCall, expandMethod } from './macro.ts';
import { CelSyntaxError } from './syntax-error.ts';

/** Longest expression, in UTF-16 units. */
export const MAX_SOURCE = 16_384;
/** How deep parentheses, lists, maps, arguments and branches of conditionals may nest. */
export const MAX_NESTING = 48;
/** How deep the tree may be as a whole: chains of operators, members and branches included. */
const MAX_DEPTH = 600;

const RELATIONS = new Set(['==', '!=', '<', '<=', '>', '>=', 'in']);
const KEYWORDS = new Set(['true', 'false', 'null', 'in']);
/** Names that the language keeps for itself; as fields and methods they are allowed. */
const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

/** Reads an expression; throws a `CelSyntaxError` for anything that is not one, and nothing else. */
export function parse(source: string): Expr {
  if (source.length > MAX_SOURCE) {
    throw new CelSyntaxError(`longer than ${MAX_SOURCE} characters`, source, MAX_SOURCE);
  }
  const expr = new Parser(source, tokenize(source)).whole();
  checkDepth(source, expr);
  return expr;
}

/** Later stages walk the tree by recursion. */
function checkDepth(source: string, root: Expr): void {
  let level: readonly Expr[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new CelSyntaxError('nested too deeply', source, level[0]?.start ?? 0);
    level = level.flatMap(partsOf);
  }
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  #nesting = 0;

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  whole(): Expr {
    const expr = this.#expr();
    if (this.#peek().kind !== 'end') throw this.#unexpected('an operator');
    return expr;
  }

  #expr(): Expr {
    if (++this.#nesting > MAX_NESTING) throw this.#error(`nested more than ${MAX_NESTING} deep`);
    // Chains of conditionals are read in a loop: they are long, not deep.
    const tests: { readonly test: Expr; readonly chosen: Expr }[] = [];
    let last = this.#logic('||');
    while (this.#take('?')) {
      const chosen = this.#logic('||');
      this.#expect(':');
      tests.push({ test: last, chosen });
      last = this.#logic('||');
    }
    this.#nesting--;
    return tests.reduceRight<Expr>(
      (otherwise, { test, chosen }) => ({
        kind: 'conditional',
        test,
        chosen,
        otherwise,
        start: test.start,
        end: otherwise.end,
      }),
      last,
    );
  }

  #logic(op: '&&' | '||'): Expr {
    const operand = () => (op === '||' ? this.#logic('&&') : this.#relation());
    const first = operand();
    if (!this.#sees(op)) return first;
    const operands = [first];
    while (this.#take(op)) operands.push(operand());
    return { kind: 'logic', op, operands, start: first.start, end: this.#previousEnd() };
  }

  #relation(): Expr {
    let left = this.#additive();
    for (;;) {
      const { text, kind } = this.#peek();
      if (!RELATIONS.has(text) || (kind !== 'op' && kind !== 'ident')) return left;
      this.#at++;
      const right = this.#additive();
      left = { kind: 'relation', op: text as RelationOp, left, right, start: left.start, end: right.end }; // tested above
    }
  }

  #additive(): Expr {
    let left = this.#multiplicative();
    while (this.#sees('+') || this.#sees('-')) {
      const op = this.#next().text as ArithmeticOp; // seen in the line above
      const right = this.#multiplicative();
      left = { kind: 'arithmetic', op, left, right, start: left.start, end: right.end };
    }
    return left;
  }

  #multiplicative(): Expr {
    let left = this.#unary();
    while (this.#sees('*') || this.#sees('/') || this.#sees('%')) {
      const op = this.#next().text as ArithmeticOp; // seen in the line above
      const right = this.#unary();
      left = { kind: 'arithmetic', op, left, right, start: left.start, end: right.end };
    }
    return left;
  }

  #unary(): Expr {
    if (this.#sees('!')) return this.#repeated('!', 'not');
    if (this.#sees('-')) {
      const literal = this.#tokens[this.#at + 1];
      if (literal?.kind === 'literal' && isNumber(literal.value)) return this.#member(this.#negativeLiteral());
      return this.#repeated('-', 'negate');
    }
    return this.#member(this.#primary());
  }

  /** `!!!x` is `!x`, but `!!x` still wants a bool. */
  #repeated(op: string, kind: 'not' | 'negate'): Expr {
    const starts: number[] = [];
    while (this.#sees(op)) {
      const next = this.#tokens[this.#at + 1];
      if (op === '-' && starts.length > 0 && next?.kind === 'literal' && isNumber(next.value)) break;
      starts.push(this.#next().start);
    }
    let operand = this.#sees('-') && op === '-' ? this.#unary() : this.#member(this.#primary());
    const kept = starts.length > 2 ? starts.slice(starts.length % 2 === 0 ? -2 : -1) : starts;
    for (const start of kept.toReversed()) operand = { kind, operand, start, end: operand.end };
    return operand;
  }

  #negativeLiteral(): Expr {
    const { start } = this.#next();
    const token = this.#next();
    const value = negate(token.value ?? null);
    if (value instanceof CelError) throw new CelSyntaxError('a uint has no sign', this.#source, start);
    return { kind: 'literal', value, start, end: token.end };
  }

  #member(primary: Expr): Expr {
    let expr = primary;
    for (;;) {
      if (this.#take('.')) expr = this.#afterDot(expr);
      else if (this.#take('[')) expr = this.#index(expr);
      else return expr;
    }
  }

  #afterDot(operand: Expr): Expr {
    const optional = this.#take('?');
    const name = this.#selector();
    if (!optional && name.kind === 'ident' && this.#sees('(')) {
      const args = this.#args();
      const { text, start: nameStart } = name;
      const call = { target: operand, name: text, nameStart, args, start: operand.start, end: this.#previousEnd() };
      return expandMethod(this.#source, call);
    }
    return { kind: 'select', operand, field: name.text, optional, start: operand.start, end: name.end };
  }

  #index(operand: Expr): Expr {
    const optional = this.#take('?');
    const index = this.#expr();
    this.#expect(']');
    return { kind: 'index', operand, index, optional, start: operand.start, end: this.#previousEnd() };
  }

  #primary(): Expr {
    const token = this.#peek();
    if (token.kind === 'literal') return this.#literal();
    if (token.kind === 'ident') return this.#named(false, token.start);
    if (token.kind !== 'op') throw this.#unexpected('an expression');
    switch (token.text) {
      case '.':
        this.#at++;
        return this.#named(true, token.start);
      case '(':
        return this.#parenthesized();
      case '[':
        return this.#list();
      case '{':
        return this.#map();
      default:
        throw this.#unexpected('an expression');
    }
  }

  #literal(): Expr {
    const token = this.#next();
    const value = token.value ?? null;
    if (isInt(value) && value > 9223372036854775807n) {
      throw new CelSyntaxError('the number is too large for an int', this.#source, token.start);
    }
    return { kind: 'literal', value, start: token.start, end: token.end };
  }

  #parenthesized(): Expr {
    const { start } = this.#peek();
    this.#expect('(');
    const expr = this.#expr();
    this.#expect(')');
    return { ...expr, start, end: this.#previousEnd() };
  }

  #named(absolute: boolean, start: number): Expr {
    const name = this.#next();
    if (name.kind !== 'ident') throw this.#unexpected('a name', name);
    if (!absolute) {
      const constant = CONSTANTS.get(name.text);
      if (constant !== undefined) return { kind: 'literal', value: constant, start, end: name.end };
    }
    if (KEYWORDS.has(name.text)) throw this.#unexpected('an expression', name);
    const message = this.#messageName(name.text);
    if (message !== null) return this.#message(message, start);
    if (RESERVED.has(name.text)) {
      throw new CelSyntaxError(`${name.text} is a reserved word`, this.#source, name.start);
    }
    if (!this.#sees('(')) return { kind: 'ident', name: name.text, absolute, start, end: name.end };
    const args = this.#args();
    return expandCall(this.#source, { name: name.text, args, start, end: this.#previousEnd() });
  }

  /** The dotted name of a message literal when one begins here; its tokens are then consumed. */
  #messageName(first: string): string | null {
    let at = this.#at;
    let name = first;
    while (this.#tokens[at]?.text === '.' && this.#tokens[at + 1]?.kind === 'ident') {
      name += `.${this.#tokens[at + 1]?.text ?? ''}`;
      at += 2;
    }
    const brace = this.#tokens[at];
    if (brace?.kind !== 'op' || brace.text !== '{') return null;
    this.#at = at;
    return name;
  }

  #message(name: string, start: number): Expr {
    const values: Expr[] = [];
    this.#sequence('{', '}', () => {
      this.#take('?');
      this.#selector();
      this.#expect(':');
      values.push(this.#expr());
    });
    return { kind: 'message', name, values, start, end: this.#previousEnd() };
  }

  #list(): Expr {
    const { start } = this.#peek();
    const items: ListItem[] = [];
    this.#sequence('[', ']', () => {
      const optional = this.#take('?');
      items.push({ value: this.#expr(), optional });
    });
    return { kind: 'list', items, start, end: this.#previousEnd() };
  }

  #map(): Expr {
    const { start } = this.#peek();
    const entries: MapEntry[] = [];
    this.#sequence('{', '}', () => {
      const optional = this.#take('?');
      const key = this.#expr();
      this.#expect(':');
      entries.push({ key, value: this.#expr(), optional });
    });
    return { kind: 'map', entries, start, end: this.#previousEnd() };
  }

  #args(): readonly Expr[] {
    const args: Expr[] = [];
    this.#expect('(');
    if (this.#take(')')) return args;
    do args.push(this.#expr());
    while (this.#take(','));
    this.#expect(')');
    return args;
  }

  /** Comma-separated items; a comma may stand behind the last. */
  #sequence(open: string, close: string, item: () => void): void {
    this.#expect(open);
    while (!this.#take(close)) {
      item();
      if (this.#take(',')) continue;
      this.#expect(close);
      return;
    }
  }

  #selector(): Token {
    const token = this.#next();
    const isName = token.kind === 'quoted' || (token.kind === 'ident' && !KEYWORDS.has(token.text));
    if (!isName) throw this.#unexpected('a name', token);
    return token;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? this.#end();
  }

  #next(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #end(): Token {
    return { kind: 'end', text: 'the end', start: this.#source.length, end: this.#source.length };
  }

  #previousEnd(): number {
    return this.#tokens[this.#at - 1]?.end ?? 0;
  }

  #sees(op: string): boolean {
    const token = this.#peek();
    return token.kind === 'op' && token.text === op;
  }

  #take(op: string): boolean {
    if (!this.#sees(op)) return false;
    this.#at++;
    return true;
  }

  #expect(op: string): void {
    if (!this.#take(op)) throw this.#unexpected(`\`${op}\``);
  }

  #unexpected(wanted: string, token: Token = this.#peek()): CelSyntaxError {
    const found = token.kind === 'end' ? 'the end' : `\`${this.#source.slice(token.start, token.end).slice(0, 40)}\``;
    return new CelSyntaxError(`expected ${wanted}, found ${found}`, this.#source, token.start);
  }

  #error(reason: string): CelSyntaxError {
    return new CelSyntaxError(reason, this.#source, this.#peek().start);
  }
}

const CONSTANTS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function isNumber(value: Value | undefined): boolean {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    (typeof value === 'object' &&
      value !== null &&
      'kind' in value &&
      (value.kind === 'double' || value.kind === 'uint'))
  );
}
