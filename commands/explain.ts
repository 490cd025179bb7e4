import { Flags } from '@oclif/core';
import type { ExplainQuestion, Explanation } from '../src/admin/protocol/explanation.ts';
import { renderExplanation } from '../ui/text/explanation.ts';
import { configSourceOf } from './_base/config-source.ts';
import { liveTargetFlags, outputFlag, portFlag, resourceArg } from './_base/flags.ts';
import { GwCommand } from './_base/gw-command.ts';
import { questionOf } from './_base/question.ts';
import { withClient } from './_base/target.ts';
import { renderDocument } from './_base/view.ts';

const request = { helpGroup: 'REQUEST' };

export default class Explain extends GwCommand {
  static override takesRest = true;
  static override summary = 'What would happen to a request: listener, route, policies, backend. Nothing is sent.';
  static override description = [
    "The request stands behind --, in curl's words. The engine itself runs on it, with the configuration of -f or the live one of a proxy, and nothing is called: no backend, no policy service. A policy that depends on a service is named and taken as allowed; rate limits count nothing.",
    '+ is a policy that applies, x one that denies, - one that does not concern the request, ? one that would ask a service. For each route that lost, the first thing that did not match is told.',
    'A message of MCP as the body (-d) gets the headers and the fields that every client adds, unless it names its session or version.',
  ].join('\n');
  static override usage = 'explain [RESOURCE] [flags] -- [curl options] URL';
  static override args = resourceArg;
  static override flags = {
    file: Flags.string({
      char: 'f',
      helpGroup: 'TARGET',
      helpValue: '<path>',
      summary: 'A configuration file instead of a proxy; - is stdin.',
    }),
    ...liveTargetFlags,
    port: portFlag({ ...request, summary: 'Port of the listener; without it that of the URL, or the only one.' }),
    from: Flags.string({ ...request, helpValue: '<ip[:port]>', summary: 'Address of the client. Default: 127.0.0.1.' }),
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    {
      description: 'Which route takes it, and would it be let in?',
      command: 'gwctl explain -f config.yaml -- http://shop.example/cart -X POST -H "x-team: red"',
    },
    {
      description: 'The same, as the running proxy sees it',
      command: 'gwctl explain --local -- http://shop.example/cart',
    },
    {
      description: 'May this client call that tool?',
      command:
        'gwctl explain --local -- http://localhost:3000/mcp -H "x-api-key: k" -d \'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"files_read_file"}}\'',
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Explain);
    const place = { port: flags.port, source: flags.from, stdinTaken: flags.file === '-' };
    const question = await this.#completed(await questionOf(this.rest, place, this.cli));
    const source = configSourceOf({ file: flags.file }, this.cli);
    const surroundings = { cli: this.cli, tell: (text: string) => this.note(text) };
    const explanation =
      source === undefined
        ? await withClient({ ...flags, ...args }, surroundings, (client) => client.explain(question))
        : await this.#fromFile(source, question);
    await this.out(
      flags.output === 'text'
        ? renderExplanation(question, explanation, { width: this.columns, paint: this.paint })
        : await renderDocument(explanation, flags.output),
    );
  }

  /** Nobody types what clients of MCP send with each message. */
  async #completed(question: ExplainQuestion): Promise<ExplainQuestion> {
    const { asMcpClient } = await import('../src/mcp/as-client.ts');
    const completed = asMcpClient(question);
    if (completed !== null) await this.note('as an MCP client without a session sends it');
    return completed ?? question;
  }

  async #fromFile(
    source: NonNullable<ReturnType<typeof configSourceOf>>,
    question: ExplainQuestion,
  ): Promise<Explanation> {
    const { loadConfig } = await import('../src/config/index.ts');
    const { explainFile } = await import('../proxy/explain/file.ts');
    const { config } = await loadConfig(source, { env: this.cli.env });
    return explainFile(config, question, (text) => this.note(`warning: ${text}`));
  }
}
