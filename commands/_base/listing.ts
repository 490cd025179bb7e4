import { Flags } from '@oclif/core';
import type { Dump } from '../../src/admin/protocol/decode-config-dump.ts';
import { nameFilter } from '../../src/admin/views/name-filter.ts';
import { outputFlag, targetFlags, viewFormats, type OutputFormat } from './flags.ts';
import type { Printer } from './gw-command.ts';
import { loadDump, type TargetChoice } from './target.ts';
import { renderView, type View } from './view.ts';
import { present, watchFlags, type Render, type WatchChoice } from './watch.ts';

/** Flags of every command that lists what a proxy has loaded. */
export const listingFlags = {
  ...targetFlags,
  name: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: '<glob>',
    summary: 'Only what goes by this name; * stands for anything, ? for one character. May be repeated.',
  }),
  ...watchFlags,
  output: outputFlag(viewFormats, 'table'),
};

export interface ListingChoice extends TargetChoice, WatchChoice {
  readonly file?: string | undefined;
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

/** Prints what the dump of the chosen target lists, once or as long as it is watched. */
export async function printListing<Row>(listing: Listing<Row>, choice: ListingChoice, printer: Printer): Promise<void> {
  const { wide = [], name } = listing;
  const wanted = nameFilter(choice.name ?? []);
  const { paint } = printer;
  const render: Render = async (tell) => {
    const dump = await loadDump(choice, { cli: printer.cli, tell });
    const rows = listing.rows(dump).filter((row) => wanted(listing.namesOf(row)));
    const options = { format: choice.output, width: printer.columns, paint };
    const text = await renderView({ rows, columns: listing.columns(rows), wide, name }, options);
    return { text, note: rows.length > 0 ? undefined : emptyNoteOf(listing, choice) };
  };
  await present(render, choice, printer);
}

function emptyNoteOf<Row>({ emptyNote }: Listing<Row>, { name = [] }: ListingChoice): string | undefined {
  if (name.length === 0) return emptyNote;
  return [`nothing here is called ${name.join(' or ')}`, emptyNote].filter(Boolean).join('\n');
}
