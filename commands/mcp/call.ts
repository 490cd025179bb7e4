import type { Progress, Tool } from '@modelcontextprotocol/client';
import { Args, Flags } from '@oclif/core';
import { readText } from '../../src/admin/client/read-file.ts';
import { exitCodes, GwError, type ExitCode } from '../../src/shared/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts';
import { contentText } from '../../ui/text/mcp.ts';
import { outputFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { attended, type Attended } from '../_base/mcp/attended.ts';
import { serverFlags, serverOf } from '../_base/mcp/server.ts';
import { renderDocument } from '../_base/view.ts';

export default class McpCall extends GwCommand {
  static override summary = 'Call a tool through a gateway and print what it answers.';
  static override description =
    'Arguments are words name=value, read as the tool says; name:=JSON gives any value, group.name=value a field of an argument that is an object, --args the whole object. On a terminal a form asks for arguments that the tool needs and nobody gave, and for what the server wants to know in the middle of the call.\nTexts of the result go to stdout as they are; progress goes to stderr. -o json prints the whole result. The exit code is 1 when the tool says that it failed, 5 when the token is refused.';
  static override usage = 'mcp call TOOL [NAME=VALUE…] [flags]';
  static override strict = false;
  static override args = {
    tool: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'Name of the tool, as `gwctl mcp tools` has it.',
    }),
  };
  static override flags = {
    args: Flags.string({
      helpGroup: 'REQUEST',
      helpValue: '<json>',
      summary: 'Arguments as one JSON object; @path reads a file, - is stdin.',
    }),
    ...serverFlags,
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    'gwctl mcp call echo message=hello --local',
    'gwctl mcp call get-sum a=1 b=2 --url http://localhost:3000/mcp -o json',
  ];

  async run(): Promise<ExitCode> {
    const { args, argv, flags } = await this.parse(McpCall);
    // `as`: words of the command line.
    const words = (argv as string[]).slice(1);
    const tell = (text: string): Promise<void> => this.note(text);
    const found = await serverOf(flags, { cli: this.cli, tell, version: this.config.version });
    const server = attended(found, this.cli);
    const { place } = server;
    const { withServer } = await import('../../src/mcp/connect.ts');
    const result = await withServer(place, async (client) => {
      const { tools } = await client.listTools(undefined, { timeout: place.timeoutMs });
      const tool = tools.find(({ name }) => name === args.tool);
      if (tool === undefined)
        throw unknownTool(
          args.tool,
          tools.map(({ name }) => name),
        );
      const given = await this.#given(flags.args, words, { server, tool });
      return server.call((options) =>
        client.callTool(
          { name: args.tool, arguments: given },
          { ...options, onprogress: (progress) => this.#progressed(server, progress) },
        ),
      );
    });
    if (flags.output !== 'text') await this.out(await renderDocument(result, flags.output));
    else await this.out(contentText(result.content as JsonValue[]));
    return result.isError === true ? exitCodes.failed : exitCodes.ok;
  }

  #progressed(server: Attended, { progress, total, message }: Progress): void {
    server.renew();
    // A form is a screen: what is written meanwhile would tear it.
    if (server.asker?.isAsking === true) return;
    const of = total === undefined ? '' : `/${total}`;
    void this.note(`${progress}${of}${message === undefined ? '' : ` ${message}`}`);
  }

  async #given(
    json: string | undefined,
    words: readonly string[],
    { server, tool }: { readonly server: Attended; readonly tool: Tool },
  ): Promise<JsonObject> {
    const { argumentsOf, jsonArguments } = await import('../../src/mcp/arguments.ts');
    const schema = tool.inputSchema as JsonValue; // it came as JSON
    const known = isJsonObject(schema) ? schema : undefined;
    const source = json?.startsWith('@') === true ? json.slice(1) : json === '-' ? '-' : undefined;
    const text = source === undefined ? json : await readText(source, this.cli.stdin);
    const given = { ...(text === undefined ? {} : jsonArguments(text)), ...argumentsOf(words, known) };
    if (text !== undefined || server.asker === undefined) return given;
    const { name, description } = tool;
    return server.asker.arguments({ title: name, description, schema: known, verb: 'call' }, given);
  }
}

function unknownTool(name: string, names: readonly string[]): GwError {
  const close = names.find((each) => each.endsWith(`_${name}`) || each.toLowerCase() === name.toLowerCase());
  return new GwError(`there is no tool "${name}" here`, {
    code: 'GW_MCP_UNKNOWN_TOOL',
    exitCode: exitCodes.notFound,
    hint:
      close === undefined
        ? 'gwctl mcp tools lists those there are; gwctl proxy config mcp --local shows servers that fail'
        : `gwctl mcp call ${close}`,
  });
}
