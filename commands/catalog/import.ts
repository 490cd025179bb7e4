import { Args, Flags } from '@oclif/core';
import { readText } from '../../src/admin/client/read-file.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { renderDocument } from '../_base/view.ts';
import { writeWhole } from '../_base/write-file.ts';

export default class CatalogImport extends GwCommand {
  static override summary = 'Turn a price list of models into a catalogue for config.modelCatalog.';
  static override description =
    'Takes api.json of models.dev, and model_prices_and_context_window.json of LiteLLM. Nothing is fetched: give it the file. Models that are no longer offered, and providers that the gateway has no name for, are left out.';
  static override args = {
    list: Args.string({ ignoreStdin: true, required: true, description: 'The price list; - is stdin.' }),
  };
  static override flags = {
    output: Flags.string({ char: 'o', helpValue: '<file>', summary: 'File to write instead of stdout.' }),
  };
  static override examples = [
    'gwctl catalog import api.json -o prices.json',
    {
      description: 'The list of today',
      command: 'curl -s https://models.dev/api.json | gwctl catalog import - -o prices.json',
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(CatalogImport);
    const { importPrices } = await import('../../src/config/prices/import.ts');
    const { writtenCatalog } = await import('../../src/config/prices/written.ts');
    const text = await readText(args.list, this.cli.stdin);
    const { catalog, from, models, unknown } = importPrices(text, new Date());
    const written = await renderDocument(writtenCatalog(catalog), 'json');
    const what = `${models} models of ${Object.keys(catalog.providers).length} providers, from ${from}`;
    if (unknown.length > 0) await this.note(`left out: ${unknown.join(', ')}`);
    if (flags.output === undefined || flags.output === '-') return this.out(written);
    await writeWhole(flags.output, Buffer.from(written));
    return this.note(`wrote ${flags.output}: ${what}`);
  }
}
