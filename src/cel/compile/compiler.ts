import { assertNever } from '../../shared/assert-never.ts';
import type { Call, Expr, Ident, Method } from '../syntax/ast.ts';
import { CelError, type Result } from '../value/value.ts';
import { access, hasField } from './access.ts';
import { callCode } from './call.ts';
import { listCode, mapCode } from './collections.ts';
import { constant, dynamic, failing, located, type Compiled } from './compiled.ts';
import type { CustomFunction, CustomFunctions } from './custom.ts';
import { exhausted, Frame, type Code } from './frame.ts';
import type { FunctionTable } from './functions.ts';
import type { Host, PathReader, Segment } from './host.ts';
import { macroCode } from './macros.ts';
import { arithmeticCode, conditionalCode, logicCode, negateCode, notCode, relationCode } from './operators.ts';
import { specialForm } from './special.ts';
import { typeNames } from './type-names.ts';

/** A variable that an expression mentions, with as much of the path below it as is written out. */
export interface Mention {
  readonly variable: string;
  readonly path: readonly string[];
}

/** A name that nobody knows, or a function that takes no such number of arguments: evaluating it always fails. */
export interface Unresolved {
  readonly message: string;
  readonly kind: 'variable' | 'function';
  readonly name: string;
  /** Offset in the source of the expression. */
  readonly at: number;
}

/** The body of a custom function, compiled over a host. */
export interface CompiledBody<C> {
  readonly code: Code<C>;
  readonly slots: number;
  readonly mentions: readonly Mention[];
}

export interface CompileOptions<C> {
  readonly host: Host<C>;
  readonly functions: FunctionTable;
  readonly custom: CustomFunctions;
  /** Bodies of custom functions that are compiled already. */
  readonly bodies: Map<CustomFunction, CompiledBody<C>>;
  readonly observer?: Observer | undefined;
}

/** Is told of the parts that have values of their own: once when each is compiled, then of every value. */
export interface Observer {
  compiled(expr: Expr): void;
  evaluated(expr: Expr, value: Result): void;
}

/** Turns one tree into functions. Local names become numbered slots of the frame. */
export class Compiler<C> {
  readonly options: CompileOptions<C>;
  readonly unresolved: Unresolved[] = [];
  readonly #mentions = new Map<string, Mention>();
  #scope: ReadonlyMap<string, number> = new Map();
  #slots = 0;

  constructor(options: CompileOptions<C>) {
    this.options = options;
  }

  /** Every variable that is mentioned, functions that are called included. */
  get mentions(): readonly Mention[] {
    return [...this.#mentions.values()];
  }

  /** How many slots a frame needs. */
  get slots(): number {
    return this.#slots;
  }

  compile(expr: Expr): Compiled<C> {
    const compiled = this.#compile(expr);
    const { observer } = this.options;
    if (observer === undefined) return compiled;
    observer.compiled(expr);
    const { code } = compiled;
    const observed: Code<C> = (frame) => {
      const value = code(frame);
      observer.evaluated(expr, value);
      return value;
    };
    return { code: observed, constant: compiled.constant };
  }

  /** The code of a part, with failures located at it. */
  code(expr: Expr): Code<C> {
    return this.compile(expr).code;
  }

  /** Compiles with further local names; `body` gets their slots in the order of the names. */
  within<T>(names: readonly string[], body: (slots: readonly number[]) => T): T {
    const outer = this.#scope;
    const slots = names.map(() => this.#slots++);
    this.#scope = new Map([...outer, ...names.map((name, i) => [name, slots[i] ?? 0] as const)]);
    try {
      return body(slots);
    } finally {
      this.#scope = outer;
    }
  }

  isLocal(name: string): boolean {
    return this.#scope.has(name);
  }

  mention(variable: string, path: readonly string[] = []): void {
    this.#mentions.set(JSON.stringify([variable, ...path]), { variable, path });
  }

  #compile(expr: Expr): Compiled<C> {
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value);
      case 'ident':
        return this.#ident(expr);
      case 'select':
      case 'index':
        return access(this, expr);
      case 'has':
        return hasField(this, expr.select);
      case 'call':
        return this.#call(expr);
      case 'method':
        return this.#method(expr);
      case 'macro':
        return dynamic(macroCode(this, expr));
      case 'block':
        return this.#block(expr.values, expr.result);
      case 'not':
        return this.#folded([expr.operand], ([operand]) => notCode(operand, expr.start));
      case 'negate':
        return this.#folded([expr.operand], ([operand]) => negateCode(operand, expr.start));
      case 'arithmetic':
        return this.#folded([expr.left, expr.right], ([l, r]) => arithmeticCode(expr.op, [l, r], expr.start));
      case 'relation':
        return this.#folded([expr.left, expr.right], ([l, r]) => relationCode(expr.op, [l, r], expr.start));
      case 'logic':
        return dynamic(
          logicCode(
            expr.op,
            expr.operands.map((operand) => this.code(operand)),
            expr.start,
          ),
        );
      case 'conditional':
        return dynamic(
          conditionalCode(this.code(expr.test), this.code(expr.chosen), this.code(expr.otherwise), expr.start),
        );
      case 'list':
        return listCode(this, expr.items);
      case 'map':
        return mapCode(this, expr.entries, expr.start);
      case 'message':
        return failing(`there is no message type ${expr.name}`, expr.start, 'undeclared');
      default:
        return assertNever(expr);
    }
  }

  /** Compiles parts and what works on their values; computes it now when the parts are constants. */
  #folded(parts: readonly Expr[], combine: (parts: readonly Compiled<C>[]) => Code<C>): Compiled<C> {
    const compiled = parts.map((part) => this.compile(part));
    return this.fold(compiled, combine(compiled));
  }

  fold(parts: readonly Compiled<C>[], code: Code<C>): Compiled<C> {
    if (this.options.observer !== undefined || parts.some((part) => part.constant === undefined)) return dynamic(code);
    // Constants read nothing of what the evaluation is over.
    const value = code(new Frame<C>(undefined as C, 0));
    return constant(value);
  }

  #ident(expr: Ident): Compiled<C> {
    return (
      this.named(expr, [])?.compiled ??
      this.#fails(
        { message: `undeclared reference to '${expr.name}'`, kind: 'variable', name: expr.name, at: expr.start },
        'undeclared',
      )
    );
  }

  /** What a name stands for, and how many of the segments behind it belong to the name or are read with it. */
  named(expr: Ident, segments: readonly Segment[]): { readonly compiled: Compiled<C>; readonly used: number } | null {
    const slot = expr.absolute ? undefined : this.#scope.get(expr.name);
    if (slot !== undefined) return { compiled: dynamic((frame) => frame.slots[slot] ?? null), used: 0 };
    const dotted = segments.findIndex((segment) => segment.indexed);
    const longest = dotted === -1 ? segments.length : dotted;
    for (const container of expr.absolute ? [''] : containers(this.options.host.container)) {
      for (let used = longest; used >= 0; used--) {
        const name = container + [expr.name, ...segments.slice(0, used).map((segment) => segment.name)].join('.');
        const found = this.#global(name, segments.slice(used), expr.start);
        if (found !== null) return { compiled: found.compiled, used: used + found.used };
      }
    }
    return null;
  }

  #global(name: string, below: readonly Segment[], at: number): { compiled: Compiled<C>; used: number } | null {
    const variable = this.options.host.variable(name);
    if (variable !== undefined) {
      this.mention(
        name,
        below.map((segment) => segment.name),
      );
      const path = below.length === 0 ? undefined : variable.path?.(below);
      if (path === undefined) return { compiled: dynamic((frame) => variable.read(frame.over)), used: 0 };
      const text = below
        .slice(0, path.used)
        .map((segment) => segment.name)
        .join('.');
      return { compiled: dynamic(pathCode(path, `${name}.${text}`, at)), used: path.used };
    }
    const type = typeNames.get(name);
    return type === undefined ? null : { compiled: constant(type), used: 0 };
  }

  #call(expr: Call): Compiled<C> {
    const custom = this.options.custom.find(expr.name, false);
    if (custom !== undefined) return this.#customCall(custom, expr.args, expr.start);
    const special = specialForm(this, expr);
    if (special !== null) return special;
    for (const container of containers(this.options.host.container)) {
      const def = this.options.functions.call(container + expr.name, expr.args.length);
      if (def !== undefined) return callCode(this, def, expr.args, expr.start);
    }
    return this.#unknown(expr.name, this.options.functions.hasCall(expr.name), expr);
  }

  #method(expr: Method): Compiled<C> {
    const namespace = this.#namespace(expr.target);
    if (namespace !== null) {
      const name = `${namespace}.${expr.name}`;
      const def = this.options.functions.call(name, expr.args.length);
      if (def !== undefined) return callCode(this, def, expr.args, expr.start);
      if (this.options.functions.hasCall(name)) return this.#unknown(name, true, expr);
    }
    const args = [expr.target, ...expr.args];
    const custom = this.options.custom.find(expr.name, true);
    if (custom !== undefined) return this.#customCall(custom, args, expr.start);
    const def = this.options.functions.method(expr.name, args.length);
    if (def !== undefined) return callCode(this, def, args, expr.start);
    if (namespace !== null && this.#isNamespace(namespace)) {
      return this.#unknown(`${namespace}.${expr.name}`, false, expr);
    }
    // What the receiver mentions counts as read, and what nobody knows of it is told too.
    this.compile(expr.target);
    return this.#unknown(expr.name, this.options.functions.hasMethod(expr.name), expr);
  }

  /** The dotted name that a receiver is written as, unless a local variable has it. */
  #namespace(target: Expr): string | null {
    if (target.kind === 'ident') return this.isLocal(target.name) ? null : target.name;
    if (target.kind !== 'select' || target.optional) return null;
    const outer = this.#namespace(target.operand);
    return outer === null ? null : `${outer}.${target.field}`;
  }

  /** Whether some function has the name before its own, as in `math.abs`. */
  #isNamespace(namespace: string): boolean {
    return this.options.functions.names.some((name) => name.startsWith(`${namespace}.`));
  }

  #unknown(name: string, known: boolean, expr: Call | Method): Compiled<C> {
    // What the arguments mention counts as read: an error handler around the call may still evaluate them.
    for (const arg of expr.args) this.compile(arg);
    const count = expr.args.length;
    const message = known ? `no such overload: ${name} with ${count} arguments` : `there is no function ${name}`;
    const at = expr.kind === 'method' ? expr.nameStart : expr.start;
    return this.#fails({ message, kind: 'function', name, at }, known ? 'overload' : 'undeclared');
  }

  #fails(unresolved: Unresolved, as: 'overload' | 'undeclared'): Compiled<C> {
    this.unresolved.push(unresolved);
    return failing(unresolved.message, unresolved.at, as);
  }

  #customCall(fn: CustomFunction, args: readonly Expr[], at: number): Compiled<C> {
    const codes = args.map((arg) => this.code(arg));
    const wrong = fn.wrongCount(args.length);
    if (wrong !== null) return this.#fails({ message: wrong, kind: 'function', name: fn.name, at }, 'overload');
    const body = this.#body(fn);
    for (const { variable, path } of body.mentions) this.mention(variable, path);
    return dynamic((frame) => {
      if (!frame.spend(1)) return exhausted();
      const inner = new Frame<C>(frame.over, body.slots, frame.root);
      const failed = fn.bind(
        inner,
        codes.map((code) => code(frame)),
      );
      const value = failed ?? body.code(inner);
      // Places inside the body mean nothing to who wrote the call.
      if (value instanceof CelError) value.at = at;
      return value;
    });
  }

  #body(fn: CustomFunction): CompiledBody<C> {
    const known = this.options.bodies.get(fn);
    if (known !== undefined) return known;
    const compiler = new Compiler(this.options);
    const code = compiler.within(fn.params, () => compiler.code(fn.body));
    const body = { code, slots: compiler.slots, mentions: compiler.mentions };
    this.options.bodies.set(fn, body);
    return body;
  }

  #block(values: readonly Expr[], result: Expr): Compiled<C> {
    return this.#bindEach(values, 0, (codes) => {
      const code = this.code(result);
      return dynamic<C>((frame) => {
        for (const { slot, value } of codes) frame.slots[slot] = value(frame);
        return code(frame);
      });
    });
  }

  #bindEach<T>(
    values: readonly Expr[],
    from: number,
    then: (codes: readonly { readonly slot: number; readonly value: Code<C> }[]) => T,
    codes: readonly { readonly slot: number; readonly value: Code<C> }[] = [],
  ): T {
    const expr = values[from];
    if (expr === undefined) return then(codes);
    const value = this.code(expr);
    return this.within([`@index${from}`], ([slot = 0]) =>
      this.#bindEach(values, from + 1, then, [...codes, { slot, value }]),
    );
  }
}

function pathCode<C>(path: PathReader<C>, name: string, at: number): Code<C> {
  return (frame) => {
    const value = path.read(frame.over);
    return value === undefined ? located(new CelError('no_such_key', `no such key: ${name}`), at) : value;
  };
}

/** `a.b` is looked up as `a.b.name`, `a.name`, `name`. */
function containers(container: string | undefined): readonly string[] {
  if (container === undefined || container === '') return [''];
  const parts = container.split('.');
  return [...parts.map((_, i) => `${parts.slice(0, parts.length - i).join('.')}.`), ''];
}
