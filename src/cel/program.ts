import { Compiler, type CompileOptions, type Mention, type Unresolved } from './compile/compiler.ts';
import { Frame, type Code } from './compile/frame.ts';
import type { Expr } from './syntax/ast.ts';
import { parse } from './syntax/parser.ts';
import { CelError, type Result } from './value/value.ts';
import { messageOf } from '../shared/errors.ts';

/** A compiled expression. */
export class Program<C> {
  readonly source: string;
  readonly tree: Expr;
  readonly mentions: readonly Mention[];
  /** What is known to fail whenever it is evaluated. */
  readonly unresolved: readonly Unresolved[];
  readonly #code: Code<C>;
  readonly #slots: number;

  private constructor(
    source: string,
    tree: Expr,
    compiled: {
      code: Code<C>;
      slots: number;
      mentions: readonly Mention[];
      unresolved: readonly Unresolved[];
    },
  ) {
    this.source = source;
    this.tree = tree;
    this.#code = compiled.code;
    this.#slots = compiled.slots;
    this.mentions = compiled.mentions;
    this.unresolved = compiled.unresolved;
  }

  /** Throws a `CelSyntaxError`. Names and functions that nobody knows fail when they are evaluated. */
  static compile<C>(source: string, options: CompileOptions<C>): Program<C> {
    const tree = parse(source);
    const compiler = new Compiler(options);
    const code = compiler.code(tree);
    const { slots, mentions, unresolved } = compiler;
    return new Program(source, tree, { code, slots, mentions, unresolved });
  }

  /** Never throws. */
  evaluate(over: C): Result {
    try {
      return this.#code(new Frame(over, this.#slots));
    } catch (error) {
      // A mistake in a function must not take the request with it.
      return new CelError('failed', messageOf(error));
    }
  }
}
