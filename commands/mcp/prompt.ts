import { Args } from '@oclif/core';
import type { JsonValue } from '../../src/shared/json.ts';
import { contentText } from '../../ui/text/mcp.ts';
import { outputFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { serverFlags, serverOf } from '../_base/mcp/server.ts';
import { renderDocument } from '../_base/view.ts';

export default class McpPrompt extends GwCommand {
  static override summary = 'Get a prompt through a gateway; without a name, list what there is.';
  static override description =
    'Arguments are words name=value. Messages go to stdout, each under the name of its role.';
  static override usage = 'mcp prompt [NAME] [NAME=VALUE…] [flags]';
  static override strict = false;
  static override args = {
    name: Args.string({ ignoreStdin: true, description: 'Name of the prompt, as the list has it.' }),
  };
  static override flags = { ...serverFlags, output: outputFlag(['text', 'json', 'yaml'] as const, 'text') };
  static override examples = [
    'gwctl mcp prompt --local',
    'gwctl mcp prompt simple-prompt --url http://localhost:3000/mcp',
  ];

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(McpPrompt);
    const { name } = args;
    const place = await serverOf(flags, {
      cli: this.cli,
      tell: (text) => this.note(text),
      version: this.config.version,
    });
    const { withServer } = await import('../../src/mcp/connect.ts');
    const options = { timeout: place.timeoutMs };
    if (name === undefined) {
      const { prompts } = await withServer(place, (client) => client.listPrompts(undefined, options));
      const text = flags.output === 'text' ? undefined : await renderDocument(prompts, flags.output);
      return this.out(text ?? prompts.map((each) => `${each.name}\n`).join(''));
    }
    const { textArguments } = await import('../../src/mcp/arguments.ts');
    // `as`: words of the command line.
    const given = textArguments((argv as string[]).slice(1));
    const result = await withServer(place, (client) => client.getPrompt({ name, arguments: given }, options));
    if (flags.output !== 'text') return this.out(await renderDocument(result, flags.output));
    await this.out(
      result.messages.map(({ role, content }) => `${role}:\n${contentText([content as JsonValue])}`).join('\n'),
    );
  }
}
