import { CustomFunction, CustomFunctions } from '../compile/custom.ts';
import { partsOf, type Expr } from '../syntax/ast.ts';
import { parse } from '../syntax/parser.ts';
import { CelSyntaxError } from '../syntax/syntax-error.ts';

/** Longest text of definitions, in UTF-16 units. */
const MAX_TEXT = 1024 * 1024;
const MAX_FUNCTIONS = 500;

interface Definition {
  readonly fn: CustomFunction;
  readonly at: number;
}

const BLANK = /(?:\s+|#[^\n]*|\/\/[^\n]*)*/y;
const HEAD = /(this\s*\.\s*)?([A-Za-z_][A-Za-z0-9_]*)\s*\(([^)]*)\)\s*\{/y;
const PARAMETER = /^([A-Za-z_][A-Za-z0-9_]*)(\s*\.\.\.)?$/;

/**
 * Reads definitions such as `isInternal() { request.headers["x-env"] == "internal" }` and `this.joined(sep, parts...) { … }`.
 * `taken` tells names that are functions already. Throws a `CelSyntaxError` with the place in the whole text.
 */
export function parseDefinitions(text: string, taken: (name: string) => boolean): CustomFunctions {
  if (text.length > MAX_TEXT) throw new CelSyntaxError(`longer than ${MAX_TEXT} characters`, text, MAX_TEXT);
  const definitions: Definition[] = [];
  let at = skipBlank(text, 0);
  while (at < text.length) {
    const { definition, end } = definitionAt(text, at);
    const { name } = definition.fn;
    if (definitions.length === MAX_FUNCTIONS) {
      throw new CelSyntaxError(`more than ${MAX_FUNCTIONS} functions`, text, at);
    }
    if (taken(name)) throw new CelSyntaxError(`there is a built-in function ${name}`, text, at);
    if (definitions.some(({ fn }) => fn.name === name)) {
      throw new CelSyntaxError(`the function ${name} is defined twice`, text, at);
    }
    definitions.push(definition);
    at = skipBlank(text, end);
  }
  refuseRecursion(text, definitions);
  return new CustomFunctions(definitions.map(({ fn }) => fn));
}

function skipBlank(text: string, at: number): number {
  BLANK.lastIndex = at;
  return at + (BLANK.exec(text)?.[0].length ?? 0);
}

function definitionAt(text: string, at: number): { readonly definition: Definition; readonly end: number } {
  HEAD.lastIndex = at;
  const head = HEAD.exec(text);
  if (head === null)
    throw new CelSyntaxError('expected a definition such as name(parameters) { expression }', text, at);
  const start = at + head[0].length;
  const end = closingBrace(text, start);
  if (end === -1) throw new CelSyntaxError(`the body of ${head[2] ?? ''} is not closed`, text, at);
  const receiver = head[1] !== undefined;
  const { params, variadic } = parameters(text, head[3] ?? '', at);
  const fn = new CustomFunction({
    name: head[2] ?? '',
    receiver,
    params: receiver ? ['this', ...params] : params,
    variadic,
    body: body(text, start, end),
  });
  return { definition: { fn, at }, end: end + 1 };
}

/** Where the body ends; braces inside literals and comments do not count. -1 when it does not end. */
function closingBrace(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at;
    else if (character === '"' || character === "'") at = literalEnd(text, at) - 1;
    else if (character === '/' && text[at + 1] === '/') {
      const newline = text.indexOf('\n', at);
      if (newline === -1) return -1;
      at = newline;
    }
  }
  return -1;
}

const RAW = /(?:^|[^A-Za-z0-9_])(?:[rR][bB]?|[bB][rR])$/;

/** Behind the literal that a quote begins. */
function literalEnd(text: string, start: number): number {
  const one = text[start] ?? '';
  const quote = text.startsWith(one.repeat(3), start) ? one.repeat(3) : one;
  const raw = RAW.test(text.slice(Math.max(0, start - 3), start));
  for (let at = start + quote.length; at < text.length; at++) {
    const character = text[at];
    if (character === '\\' && !raw) at++;
    else if (character === one && text.startsWith(quote, at)) return at + quote.length;
    else if (character === '\n' && quote.length === 1) break;
  }
  throw new CelSyntaxError('the string is not closed', text, start);
}

function parameters(
  text: string,
  list: string,
  at: number,
): { readonly params: readonly string[]; readonly variadic: boolean } {
  if (list.trim() === '') return { params: [], variadic: false };
  const pieces = list.split(',').map((piece) => PARAMETER.exec(piece.trim()));
  const params = pieces.map((piece) => {
    if (piece === null) throw new CelSyntaxError('expected parameters such as (a, b, rest...)', text, at);
    return piece[1] ?? '';
  });
  const variadic = pieces.findIndex((piece) => piece?.[2] !== undefined);
  if (variadic !== -1 && variadic !== params.length - 1) {
    throw new CelSyntaxError('only the last parameter can take several arguments', text, at);
  }
  if (new Set(params).size < params.length || params.includes('this')) {
    throw new CelSyntaxError('parameters need names of their own', text, at);
  }
  return { params, variadic: variadic !== -1 };
}

/** Blanks stand for what comes before the body, so that places count from the start of the whole text. */
function body(text: string, start: number, end: number): Expr {
  try {
    return parse(text.slice(start, end));
  } catch (error) {
    if (error instanceof CelSyntaxError) throw new CelSyntaxError(error.reason, text, start + error.offset);
    throw error;
  }
}

function refuseRecursion(text: string, definitions: readonly Definition[]): void {
  const calls = new Map(definitions.map(({ fn }) => [fn.name, calledBy(fn.body)]));
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[], at: number): void => {
    if (path.includes(name)) throw new CelSyntaxError(`the function ${name} calls itself`, text, at);
    if (done.has(name)) return;
    for (const called of calls.get(name) ?? []) if (calls.has(called)) visit(called, [...path, name], at);
    done.add(name);
  };
  for (const { fn, at } of definitions) visit(fn.name, [], at);
}

function calledBy(expr: Expr): ReadonlySet<string> {
  const names = new Set<string>();
  const pending: Expr[] = [expr];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'call' || next.kind === 'method') names.add(next.name);
    pending.push(...partsOf(next));
  }
  return names;
}
