import type { Expr, MacroName } from './ast.ts';
import { CelSyntaxError } from './syntax-error.ts';

interface CallText {
  readonly name: string;
  readonly args: readonly Expr[];
  readonly start: number;
  readonly end: number;
}

interface MethodText extends CallText {
  readonly target: Expr;
  readonly nameStart: number;
}

/** Numbers of arguments with which a method is a macro, and how many of those name variables. */
interface Form {
  readonly macro: MacroName;
  readonly args: number;
  readonly vars: number;
}

const FORMS: Readonly<Record<string, readonly Form[]>> = {
  all: twoForms('all', 1),
  exists: twoForms('exists', 1),
  exists_one: twoForms('existsOne', 1),
  existsOne: twoForms('existsOne', 1),
  map: [
    { macro: 'map', args: 2, vars: 1 },
    { macro: 'map', args: 3, vars: 1 },
  ],
  filter: [{ macro: 'filter', args: 2, vars: 1 }],
  transformList: [
    { macro: 'transformList', args: 3, vars: 2 },
    { macro: 'transformList', args: 4, vars: 2 },
  ],
  transformMap: [
    { macro: 'transformMap', args: 3, vars: 2 },
    { macro: 'transformMap', args: 4, vars: 2 },
  ],
  transformMapEntry: [
    { macro: 'transformMapEntry', args: 3, vars: 2 },
    { macro: 'transformMapEntry', args: 4, vars: 2 },
  ],
  optMap: [{ macro: 'optMap', args: 2, vars: 1 }],
  optFlatMap: [{ macro: 'optFlatMap', args: 2, vars: 1 }],
  with: [{ macro: 'bind', args: 2, vars: 1 }],
  mapValues: [{ macro: 'mapValues', args: 2, vars: 1 }],
  filterKeys: [{ macro: 'filterKeys', args: 2, vars: 1 }],
  sortBy: [{ macro: 'sortBy', args: 2, vars: 1 }],
};

/** Names of methods that are macros. */
export const macroNames: readonly string[] = [...Object.keys(FORMS), 'has', 'cel.bind', 'cel.block'];

function twoForms(macro: MacroName, vars: number): readonly Form[] {
  return [
    { macro, args: vars + 1, vars },
    { macro, args: vars + 2, vars: vars + 1 },
  ];
}

/** `name(args)`: `has` is a macro, the rest are functions. */
export function expandCall(source: string, call: CallText): Expr {
  if (call.name !== 'has') return { kind: 'call', ...call };
  const [select] = call.args;
  if (call.args.length !== 1 || select?.kind !== 'select') {
    throw new CelSyntaxError('has() takes one field selection, such as has(jwt.sub)', source, call.start);
  }
  return { kind: 'has', select, start: call.start, end: call.end };
}

/** `target.name(args)`: a macro, or a method. */
export function expandMethod(source: string, call: MethodText): Expr {
  const { target, name, nameStart, args, start, end } = call;
  if (target.kind === 'ident' && target.name === 'cel') {
    const special = expandCel(source, call);
    if (special !== null) return special;
  }
  const forms = FORMS[name];
  const form = forms?.find((candidate) => candidate.args === args.length);
  if (form === undefined) {
    if (forms !== undefined && args.length > 0) {
      const counts = forms.map((candidate) => candidate.args).join(' or ');
      throw new CelSyntaxError(`${name}() takes ${counts} arguments, not ${args.length}`, source, start);
    }
    return { kind: 'method', target, name, nameStart, args, start, end };
  }
  const vars = variables(source, name, args.slice(0, form.vars));
  return { kind: 'macro', macro: form.macro, target, vars, bodies: args.slice(form.vars), start, end };
}

function variables(source: string, macro: string, args: readonly Expr[]): readonly string[] {
  const names = args.map((arg) => {
    if (arg.kind === 'ident' && !arg.absolute) return arg.name;
    throw new CelSyntaxError(`${macro}() takes a plain name here`, source, arg.start);
  });
  if (new Set(names).size < names.length) {
    throw new CelSyntaxError(`${macro}() takes two different names`, source, args[1]?.start ?? 0);
  }
  return names;
}

/** `cel.bind(x, value, body)` and the forms in which common parts are written once. */
function expandCel(source: string, { name, args, start, end }: MethodText): Expr | null {
  const [first, second, third] = args;
  if (name === 'bind' && first !== undefined && second !== undefined && third !== undefined && args.length === 3) {
    const vars = variables(source, 'cel.bind', [first]);
    return { kind: 'macro', macro: 'bind', target: second, vars, bodies: [third], start, end };
  }
  if (name === 'block' && first?.kind === 'list' && second !== undefined && args.length === 2) {
    return { kind: 'block', values: first.items.map((item) => item.value), result: second, start, end };
  }
  if (name === 'index' && args.length === 1) return generated('@index', args, { start, end });
  if ((name === 'iterVar' || name === 'accuVar') && args.length === 2)
    return generated(`@${name}`, args, { start, end });
  return null;
}

/** A name that can't be written: the one that a number stands for. */
function generated(
  prefix: string,
  args: readonly Expr[],
  at: { readonly start: number; readonly end: number },
): Expr | null {
  const numbers = args.map((arg) => (arg.kind === 'literal' && typeof arg.value === 'number' ? arg.value : -1));
  if (numbers.some((number) => number < 0)) return null;
  return { kind: 'ident', name: `${prefix}${numbers.join(':')}`, absolute: false, ...at };
}
