import { Args, Flags } from '@oclif/core';
import type { Evaluation, EvaluationInput, evaluateOnce as EvaluateOnce } from '../../proxy/expression/evaluation.ts';
import { readText } from '../../src/admin/client/read-file.ts';
import type { ExplainQuestion } from '../../src/admin/protocol/explanation.ts';
import { exitCodes, type ExitCode } from '../../src/shared/errors.ts';
import { renderEvaluation } from '../../ui/text/evaluation.ts';
import { configSourceOf } from '../_base/config-source.ts';
import { evaluationFailure, notAnExpression } from '../_base/expression.ts';
import { outputFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { questionOf } from '../_base/question.ts';
import { inputName, parseRequestText, variablesOf } from '../_base/request-text.ts';
import { usageError } from '../_base/usage-error.ts';
import { renderDocument } from '../_base/view.ts';

export default class CelEval extends GwCommand {
  static override takesRest = true;
  static override summary = 'Evaluate an expression as the gateway would.';
  static override description = [
    "The request that it sees is that of --request, or stands behind --, in curl's words. Variables that no request brings (jwt, response, source, …) come from --vars, a JSON object of variables by name.",
    'A file for --request holds the text of an HTTP message, or JSON: {"method": "GET", "url": "http://host/path", "headers": {"x-team": "red"}, "body": {}}.',
    'The exit code is 1 when the evaluation fails, 2 when the text is no expression. docs/cel.md tells all variables and functions.',
  ].join('\n');
  static override usage = 'cel eval EXPRESSION [flags] [-- [curl options] URL]';
  static override args = {
    expression: Args.string({ ignoreStdin: true, required: true, description: 'The expression; - is stdin.' }),
  };
  static override flags = {
    vars: Flags.string({
      helpValue: '<path>',
      summary: 'JSON object of variables by name: a file, - for stdin, or the JSON itself.',
    }),
    request: Flags.string({ helpValue: '<path>', summary: 'The request: an HTTP message or JSON; - is stdin.' }),
    file: Flags.string({
      char: 'f',
      helpValue: '<path>',
      summary: 'Configuration whose functions (config.customFunctions) can be called.',
    }),
    explain: Flags.boolean({ summary: 'Show the value of each part as well.' }),
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    `gwctl cel eval '"team-red".split("-")[1]'`,
    {
      description: 'Why is the answer no?',
      command: `gwctl cel eval --explain 'request.path.startsWith("/v1/") && request.headers["x-team"] == "red"' -- http://localhost/v1/items -H "x-team: blue"`,
    },
    {
      description: 'With the claims of a token',
      command: `gwctl cel eval 'jwt.sub == "alice"' --vars '{"jwt": {"sub": "alice"}}'`,
    },
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(CelEval);
    const stdinReaders = [args.expression, flags.vars, flags.request, flags.file].filter((given) => given === '-');
    if (stdinReaders.length > 1) throw usageError('only one of the inputs can be stdin');
    const source = args.expression === '-' ? (await this.#read('-')).trim() : args.expression;
    const { evaluateOnce, requestOf } = await import('../../proxy/expression/evaluation.ts');
    const question = await this.#question(flags.request);
    const input: EvaluationInput = {
      ...(await this.#settings(flags.file)),
      parts: flags.explain,
      variables: flags.vars === undefined ? {} : await variablesOf(flags.vars, (path) => this.#read(path)),
      request: question === undefined ? undefined : requestOf(question),
    };
    return this.#answer(evaluated(evaluateOnce, source, input), flags);
  }

  async #answer(
    evaluation: Evaluation,
    { output, explain }: { readonly output: 'text' | 'json' | 'yaml'; readonly explain: boolean },
  ): Promise<ExitCode> {
    const { error, parts, text: _, ...facts } = evaluation;
    if (output !== 'text') {
      await this.out(await renderDocument({ ...facts, error, ...(explain ? { parts } : {}) }, output));
      return error === null ? exitCodes.ok : exitCodes.failed;
    }
    if (explain || error === null) await this.out(renderEvaluation(evaluation, this.columns, this.paint));
    const failure = evaluationFailure(evaluation, explain);
    if (failure !== null) throw failure;
    return exitCodes.ok;
  }

  #read(path: string): Promise<string> {
    return readText(path, this.cli.stdin);
  }

  async #question(file: string | undefined): Promise<ExplainQuestion | undefined> {
    if (file !== undefined && this.rest.length > 0) throw usageError('the request is either in --request or behind --');
    if (file !== undefined) return parseRequestText(await this.#read(file), inputName(file));
    return this.rest.length === 0 ? undefined : questionOf(this.rest, { port: undefined, source: undefined }, this.cli);
  }

  /** What expressions of a configuration see besides the request. */
  async #settings(file: string | undefined): Promise<Omit<EvaluationInput, 'parts'>> {
    const source = configSourceOf({ file }, this.cli);
    if (source === undefined) return {};
    const { loadConfig } = await import('../../src/config/index.ts');
    const { config } = await loadConfig(source, { env: this.cli.env });
    const { customFunctions, env, sensitiveHeaders } = config.process;
    return { customFunctions, env, sensitiveHeaders };
  }
}

/** A text that is no expression is wrong usage. */
function evaluated(evaluate: typeof EvaluateOnce, source: string, input: EvaluationInput): Evaluation {
  try {
    return evaluate(source, input);
  } catch (error) {
    throw notAnExpression(error, source);
  }
}
