import type { Mention } from '../../src/cel/compile/compiler.ts';
import type { Expressions, LlmContents } from './contract.ts';

/** What an expression reads of prompts and answers; the variable as a whole reads all of it. */
export function llmContentsOf(mentions: readonly Mention[]): LlmContents {
  const paths = mentions.flatMap(({ variable, path }) => (variable === 'llm' ? [path[0]] : []));
  const reads = (field: string): boolean => paths.some((first) => first === undefined || first === field);
  return { prompt: reads('prompt'), completion: reads('completion'), toolCalls: reads('toolCalls') };
}

/** The same expressions, noting what any of them reads of calls of language models. */
export function notingLlmContents(from: Expressions): {
  readonly expressions: Expressions;
  readonly contents: LlmContents;
} {
  const contents = { prompt: false, completion: false, toolCalls: false };
  const expressions: Expressions = {
    compile(source, where, about) {
      const compiled = from.compile(source, where, about);
      const { llm } = compiled.reads;
      contents.prompt ||= llm.prompt;
      contents.completion ||= llm.completion;
      contents.toolCalls ||= llm.toolCalls;
      return compiled;
    },
  };
  return { expressions, contents };
}
