import { Flags } from '@oclif/core';
import { GwCommand } from './_base/gw-command.ts';
import { renderDocument } from './_base/view.ts';
import { writeWhole } from './_base/write-file.ts';

export default class Schema extends GwCommand {
  static override summary = 'The JSON Schema of the configuration file.';
  static override description =
    'Editors complete and check a configuration that names the schema in its first line:\n# yaml-language-server: $schema=./gwctl.schema.json';
  static override flags = {
    output: Flags.string({ char: 'o', helpValue: '<file>', summary: 'File to write instead of stdout.' }),
  };
  static override examples = ['gwctl schema > gwctl.schema.json', 'gwctl schema -o gwctl.schema.json'];

  async run(): Promise<void> {
    const { flags } = await this.parse(Schema);
    const { jsonSchema } = await import('../src/config/index.ts');
    const text = await renderDocument(await jsonSchema(), 'json');
    if (flags.output === undefined || flags.output === '-') return this.out(text);
    await writeWhole(flags.output, Buffer.from(text));
    return this.note(`wrote ${flags.output}`);
  }
}
