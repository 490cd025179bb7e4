import { assertNever } from '../../../src/shared/assert-never.ts';
import { choiceRow, paletteMatches, paletteRows } from '../../terminal/command.ts';
import { drawPane, innerSize, type PaneSpec } from '../../terminal/pane.ts';
import { row, type Row } from '../../terminal/row.ts';
import { commands } from '../commands.ts';
import { traceHelp } from '../help.ts';
import type { Layout } from '../layout.ts';
import { exportChoices } from '../overlays.ts';
import type { TraceState } from '../state.ts';

/** What lies over both panes, or undefined when nothing does. */
export function overlayPane(state: TraceState, layout: Layout): Row[] | undefined {
  const { overlay } = state;
  const size = innerSize(layout.body, layout.framed);
  switch (overlay.kind) {
    case 'none':
    case 'prompt':
      return undefined;
    case 'help':
      return drawPane(traceHelp().slice(overlay.top), {
        ...frame(layout, 'Keys'),
        top: overlay.top,
        count: traceHelp().length,
      });
    case 'palette':
      return drawPane(paletteRows(paletteMatches(commands, overlay.text), overlay, size), frame(layout, 'Commands'));
    case 'export':
      return drawPane(exportRows(overlay.index, size.width), frame(layout, 'Export'));
    default:
      return assertNever(overlay);
  }
}

function exportRows(index: number, width: number): Row[] {
  const lines = exportChoices.map((choice, at) => choiceRow(choice.key, choice.title, { chosen: at === index, width }));
  return [...lines, row(''), row('   The file is written to the working directory.', 'dim')];
}

function frame(layout: Layout, title: string): PaneSpec {
  return { title, note: 'esc closes', ...layout.body, focused: true, framed: layout.framed };
}
