import { Flags } from '@oclif/core';
import type { ExitCode } from '../../src/shared/errors.ts';
import { checkExpression } from '../_base/expression.ts';
import { countFlag, durationFlag, outputFlag, portFlag, resourceArg, targetFlags } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { planTrace } from '../_base/trace/options.ts';
import { runTrace } from '../_base/trace/run.ts';
import { openSource } from '../_base/trace/source.ts';

const request = { helpGroup: 'REQUEST' };
const expectation = { helpGroup: 'EXPECTATIONS' };

export default class ProxyTrace extends GwCommand {
  static override takesRest = true;
  static override summary = 'Follow a request through the proxy: route, policies, backend, timing.';
  static override description =
    "Without a request behind -- it waits for the next one that somebody else sends. With a URL behind -- it sends the request itself, in curl's words, to --port of the target (or the port that the URL names), whatever host the URL names; Host, SNI and the certificate check are those of the URL, and curl is not needed.\nOn a terminal the trace viewer opens. In a pipe, or with -o text or --count, the trace is printed: offset and duration of each step, why other routes were not chosen, the slowest step, and what the client got. -o jsonl (--raw) prints the events as the server sent them; --file shows them again.\nAn --expect- flag makes the trace a check: exit code 1 and the difference when it is not met.";
  static override usage = 'proxy trace [RESOURCE] [flags] [-- [curl options] URL]';
  static override aliases = ['trace'];
  static override args = resourceArg;
  static override flags = {
    ...targetFlags,
    timeout: durationFlag({ helpGroup: 'TARGET', summary: 'How long to wait; the exit code is then 124.' }),
    port: portFlag({
      ...request,
      summary: 'Listener port that the request behind -- is sent to; without it that of the URL.',
    }),
    expression: Flags.string({
      ...request,
      helpValue: '<CEL>',
      summary:
        'Only a request for which this is true: as it arrives, or, where it names what is known later (mcp, llm, jwt, response), once it is over.',
    }),
    follow: Flags.boolean({ ...request, summary: 'Keep on with the requests that follow.' }),
    count: countFlag({ ...request, summary: 'End after this many requests.' }),
    'expect-status': Flags.string({
      ...expectation,
      helpValue: '<status>',
      summary: 'Status: 200, 2xx, or several with commas.',
    }),
    'expect-route': Flags.string({
      ...expectation,
      helpValue: '<route>',
      summary: 'Key of the chosen route, or its last part; none for no route.',
    }),
    'expect-backend': Flags.string({
      ...expectation,
      helpValue: '<target>',
      summary: 'Target of the last backend call; none for no call.',
    }),
    'expect-policy': Flags.string({
      ...expectation,
      helpValue: '<kind>',
      multiple: true,
      multipleNonGreedy: true,
      summary: 'Policy that was applied; may be repeated.',
    }),
    'expect-max-duration': durationFlag({ ...expectation, summary: 'The longest that the request may take.' }),
    output: outputFlag(['text', 'jsonl'], 'text'),
    raw: Flags.boolean({ helpGroup: 'OUTPUT', summary: 'The same as -o jsonl.' }),
    redact: Flags.boolean({
      helpGroup: 'OUTPUT',
      summary: 'Leave out credentials, cookies, identities, query values and bodies.',
    }),
  };
  static override examples = [
    { description: 'Watch the next request of the proxy on this machine', command: 'gwctl proxy trace --local' },
    {
      description: 'Send a request and see what happens to it',
      command: 'gwctl proxy trace --local --port 8080 -- http://shop.example/cart',
    },
    {
      description: 'Watch the next request of one client',
      command: `gwctl trace --local --expression 'request.headers["x-team"] == "red" && request.path.startsWith("/cart")'`,
    },
    {
      description: 'Watch the next call of a tool by whatever client',
      command: `gwctl trace --local --expression 'mcp.methodName == "tools/call" && mcp.tool.name == "search"'`,
    },
    {
      description: 'A check for CI',
      command:
        'gwctl trace --local --port 8080 --expect-status 200 --expect-route shop/cart -- http://shop.example/cart',
    },
    {
      description: 'Save the next ten requests, look at them later',
      command: 'gwctl trace --local --count 10 --raw > trace.jsonl',
    },
    {
      description: 'A saved trace without anything secret',
      command: 'gwctl proxy trace --file trace.jsonl -o text --redact',
    },
  ];

  async run(): Promise<ExitCode | void> {
    const { args, flags, metadata } = await this.parse(ProxyTrace);
    const terminal = this.cli.stdout.isTTY === true && flags.file !== '-' && this.cli.stdin.isTTY === true;
    const output = metadata.flags['output']?.setFromDefault === true ? undefined : flags.output;
    if (flags.expression !== undefined) await checkExpression(flags.expression, '--expression');
    const plan = planTrace({ ...flags, ...args, output }, this.rest, terminal);
    const source = await openSource(plan, this.cli, (text) => this.note(text));
    try {
      if (plan.format === 'screen') {
        const { showTraceScreen } = await import('../_base/trace/screen.ts');
        return await showTraceScreen(source, this.cli);
      }
      if (plan.target.kind === 'proxy' && plan.port === undefined)
        await this.note(`waiting for a request to ${source.name}`);
      const { out, note } = { out: (text: string) => this.out(text), note: (text: string) => this.note(text) };
      await runTrace(plan, source, { out, note, paint: this.paint, columns: this.columns, signal: this.cli.signal });
      return undefined;
    } finally {
      await source.close();
    }
  }
}
