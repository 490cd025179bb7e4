import { Flags } from '@oclif/core';
import type { Dump } from '../../src/admin/protocol/decode-config-dump.ts';
import { nameFilter } from '../../src/admin/views/name-filter.ts';
import { outputFlag, targetFlags, viewFormats, type OutputFormat } from './flags.ts';
import type { Printer } from './gw-command.ts';
import { loadDump, type TargetChoice } from './target.ts';
import { renderView, type View } from './view.ts';

/** Flags of every command that lists what a proxy has loaded. */
export const listingFlags = {
  ...targetFlags,
  name: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: '<glob>',
    summary: 'Only what goes by this name; * stands for anything, ? for one character. May be repeated.',
  }),
  output: outputFlag(viewFormats, 'table'),
};

export interface ListingChoice extends TargetChoice {
  readonly name?: readonly string[] | undefined;
  readonly output: OutputFormat;
}

/** A view whose rows come from a dump and can be picked by name. */
export interface Listing<Row> extends Omit<View<Row>, 'rows' | 'columns'> {
  readonly rows: (dump: Dump) => readonly Row[];
  /** The columns, where they depend on what is shown. */
  readonly columns: (rows: readonly Row[]) => View<Row>['columns'];
  /** Everything that `--name` may mean by a row: names, keys, host names. */
  readonly namesOf: (row: Row) => readonly string[];
  /** Said on stderr when there are no rows and no name was asked for. */
  readonly emptyNote?: string | undefined;
}

/** Loads the dump of the chosen target and prints what it lists. */
export async function printListing<Row>(listing: Listing<Row>, choice: ListingChoice, printer: Printer): Promise<void> {
  const dump = await loadDump(choice, { cli: printer.cli, tell: printer.note });
  const { columns: width, paint } = printer;
  const { wide = [], name } = listing;
  const wanted = nameFilter(choice.name ?? []);
  const rows = listing.rows(dump).filter((row) => wanted(listing.namesOf(row)));
  await printer.out(
    await renderView({ rows, columns: listing.columns(rows), wide, name }, { format: choice.output, width, paint }),
  );
  const note = rows.length > 0 ? undefined : emptyNoteOf(listing, choice);
  if (note !== undefined) await printer.note(note);
}

function emptyNoteOf<Row>({ emptyNote }: Listing<Row>, { name = [] }: ListingChoice): string | undefined {
  if (name.length === 0) return emptyNote;
  return [`nothing here is called ${name.join(' or ')}`, emptyNote].filter(Boolean).join('\n');
}
