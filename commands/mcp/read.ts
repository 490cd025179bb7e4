import { Args } from '@oclif/core';
import { isJsonObject, type JsonValue } from '../../src/shared/json.ts';
import { resourceColumns, resourceText } from '../../ui/text/mcp.ts';
import { renderTable } from '../../ui/text/table.ts';
import { outputFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { onlyForLists } from '../_base/mcp/only-for-lists.ts';
import { serverFlags, serverOf } from '../_base/mcp/server.ts';
import { renderDocument } from '../_base/view.ts';

export default class McpRead extends GwCommand {
  static override summary = 'Read a resource through a gateway; without an address, list what there is.';
  static override description =
    'Texts go to stdout as they are; -o json prints everything, binary contents as base64. In the list, -o name prints the addresses alone.';
  static override usage = 'mcp read [URI] [flags]';
  static override args = {
    uri: Args.string({ ignoreStdin: true, description: 'Address of the resource, as the list has it.' }),
  };
  static override flags = { ...serverFlags, output: outputFlag(['text', 'json', 'yaml', 'name'] as const, 'text') };
  static override examples = ['gwctl mcp read --local', 'gwctl mcp read memo:insights --url http://localhost:3000/mcp'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(McpRead);
    const { uri } = args;
    const place = await serverOf(flags, {
      cli: this.cli,
      tell: (text) => this.note(text),
      version: this.config.version,
    });
    const { withServer } = await import('../../src/mcp/connect.ts');
    const options = { timeout: place.timeoutMs };
    if (uri === undefined) {
      const { resources } = await withServer(place, (client) => client.listResources(undefined, options));
      if (resources.length === 0) await this.note('there are no resources');
      if (flags.output === 'name') return this.out(resources.map((each) => `${each.uri}\n`).join(''));
      if (flags.output !== 'text') return this.out(await renderDocument(resources, flags.output));
      return this.out(renderTable(resourceColumns, resources, { width: this.columns }));
    }
    if (flags.output === 'name') throw onlyForLists();
    const result = await withServer(place, (client) => client.readResource({ uri }, options));
    if (flags.output !== 'text') return this.out(await renderDocument(result, flags.output));
    // `as`: it came as JSON.
    const shown = result.contents as readonly JsonValue[];
    await this.out(shown.map((each) => (isJsonObject(each) ? `${resourceText(each)}\n` : '')).join(''));
  }
}
