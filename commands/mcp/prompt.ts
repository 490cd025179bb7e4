import type { Client, Prompt } from '@modelcontextprotocol/client';
import { Args } from '@oclif/core';
import type { JsonObject, JsonValue } from '../../src/shared/json.ts';
import { contentText, promptColumns } from '../../ui/text/mcp.ts';
import { renderTable } from '../../ui/text/table.ts';
import { outputFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import type { Asker } from '../_base/mcp/asker.ts';
import { attended } from '../_base/mcp/attended.ts';
import { onlyForLists } from '../_base/mcp/only-for-lists.ts';
import { serverFlags, serverOf } from '../_base/mcp/server.ts';
import { renderDocument } from '../_base/view.ts';

export default class McpPrompt extends GwCommand {
  static override summary = 'Get a prompt through a gateway; without a name, list what there is.';
  static override description =
    'Arguments are words name=value; on a terminal a form asks for those that the prompt needs and nobody gave. Messages go to stdout, each under the name of its role. In the list, arguments in brackets may be left out; -o name prints the names alone.';
  static override usage = 'mcp prompt [NAME] [NAME=VALUE…] [flags]';
  static override strict = false;
  static override args = {
    name: Args.string({ ignoreStdin: true, description: 'Name of the prompt, as the list has it.' }),
  };
  static override flags = { ...serverFlags, output: outputFlag(['text', 'json', 'yaml', 'name'] as const, 'text') };
  static override examples = [
    'gwctl mcp prompt --local',
    'gwctl mcp prompt simple-prompt --url http://localhost:3000/mcp',
  ];

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(McpPrompt);
    const { name } = args;
    const tell = (text: string): Promise<void> => this.note(text);
    const found = await serverOf(flags, { cli: this.cli, tell, version: this.config.version });
    const server = attended(found, this.cli);
    const { place } = server;
    const { withServer } = await import('../../src/mcp/connect.ts');
    const options = { timeout: place.timeoutMs };
    if (name === undefined) {
      const { prompts } = await withServer(place, (client) => client.listPrompts(undefined, options));
      if (prompts.length === 0) await this.note('there are no prompts');
      if (flags.output === 'name') return this.out(prompts.map((each) => `${each.name}\n`).join(''));
      if (flags.output !== 'text') return this.out(await renderDocument(prompts, flags.output));
      return this.out(renderTable(promptColumns, prompts, { width: this.columns }));
    }
    if (flags.output === 'name') throw onlyForLists();
    const { textArguments } = await import('../../src/mcp/arguments.ts');
    // `as`: words of the command line.
    const given = textArguments((argv as string[]).slice(1));
    const result = await withServer(place, async (client) => {
      const whole = server.asker === undefined ? given : await this.#whole(server.asker, name, { client, given });
      return server.call((patient) => client.getPrompt({ name, arguments: whole }, patient));
    });
    if (flags.output !== 'text') return this.out(await renderDocument(result, flags.output));
    await this.out(
      result.messages.map(({ role, content }) => `${role}:\n${contentText([content as JsonValue])}`).join('\n'),
    );
  }

  /** The arguments with what a person adds. */
  async #whole(
    asker: Asker,
    name: string,
    { client, given }: { readonly client: Client; readonly given: Readonly<Record<string, string>> },
  ): Promise<Record<string, string>> {
    const { prompts } = await client.listPrompts();
    const prompt = prompts.find((each) => each.name === name);
    const schema = schemaOf(prompt?.arguments ?? []);
    const filled = await asker.arguments({ title: name, description: prompt?.description, schema, verb: 'get' }, given);
    // Every field of the form is a text.
    return Object.fromEntries(Object.entries(filled).map(([key, value]) => [key, String(value)]));
  }
}

/** Arguments of a prompt are texts: the same as a JSON Schema. */
function schemaOf(listed: NonNullable<Prompt['arguments']>): JsonObject {
  const texts = listed.map(
    ({ name, description }) =>
      [name, { type: 'string', ...(description === undefined ? {} : { description }) }] as const,
  );
  const required = listed.filter((each) => each.required === true).map(({ name }) => name);
  return { type: 'object', properties: Object.fromEntries(texts), required };
}
