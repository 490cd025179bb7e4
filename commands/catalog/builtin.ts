import { Flags } from '@oclif/core';
import { GwCommand } from '../_base/gw-command.ts';
import { renderDocument } from '../_base/view.ts';
import { writeWhole } from '../_base/write-file.ts';

export default class CatalogBuiltin extends GwCommand {
  static override summary = 'The catalogue of prices that comes with gwctl, to use as it is or to edit.';
  static override description =
    'List prices of well-known models, as their providers published them when this release was made. A configuration uses it with config.modelCatalog: [{builtin: true}].';
  static override flags = {
    output: Flags.string({ char: 'o', helpValue: '<file>', summary: 'File to write instead of stdout.' }),
  };
  static override examples = ['gwctl catalog builtin', 'gwctl catalog builtin -o prices.json'];

  async run(): Promise<void> {
    const { flags } = await this.parse(CatalogBuiltin);
    const { shippedPrices, shippedPricesDate } = await import('../../src/config/shipped-prices.ts');
    const { writtenCatalog } = await import('../../src/config/prices/written.ts');
    const written = await renderDocument(writtenCatalog(shippedPrices()), 'json');
    if (flags.output === undefined || flags.output === '-') return this.out(written);
    await writeWhole(flags.output, Buffer.from(written));
    return this.note(`wrote ${flags.output}: list prices of ${shippedPricesDate}`);
  }
}
