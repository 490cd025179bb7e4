import { renderTable } from '../../ui/text/table.ts';
import { toolColumns } from '../../ui/text/mcp.ts';
import { outputFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { serverFlags, serverOf } from '../_base/mcp/server.ts';
import { renderDocument } from '../_base/view.ts';

export default class McpTools extends GwCommand {
  static override summary = 'List the tools that a gateway, or any MCP server, offers.';
  static override description =
    'Without --url and --port the proxy is asked over its admin interface where its MCP servers are. Arguments in brackets may be left out; -o json has the whole schema of each.';
  static override flags = { ...serverFlags, output: outputFlag(['table', 'json', 'yaml', 'name'] as const, 'table') };
  static override examples = ['gwctl mcp tools --local', 'gwctl mcp tools --url http://localhost:3000/mcp -o json'];

  async run(): Promise<void> {
    const { flags } = await this.parse(McpTools);
    const place = await serverOf(flags, {
      cli: this.cli,
      tell: (text) => this.note(text),
      version: this.config.version,
    });
    const { withServer } = await import('../../src/mcp/connect.ts');
    const { tools } = await withServer(place, (client) => client.listTools(undefined, { timeout: place.timeoutMs }));
    if (tools.length === 0) await this.note('there are no tools');
    if (flags.output === 'name') return this.out(tools.map(({ name }) => `${name}\n`).join(''));
    if (flags.output !== 'table') return this.out(await renderDocument(tools, flags.output));
    await this.out(renderTable(toolColumns, tools, { width: this.columns }));
  }
}
