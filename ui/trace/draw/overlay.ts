import { assertNever } from '../../../src/shared/assert-never.ts';
import { drawPane } from '../../terminal/pane.ts';
import { fitSegments, row, seg, type Row } from '../../terminal/row.ts';
import { fit } from '../../terminal/text.ts';
import { helpRows, keyName } from '../help.ts';
import type { Layout } from '../layout.ts';
import { exportChoices, paletteMatches } from '../overlays.ts';
import type { TraceState } from '../state.ts';

/** What lies over both panes, or undefined when nothing does. */
export function overlayPane(state: TraceState, layout: Layout): Row[] | undefined {
  const { overlay } = state;
  switch (overlay.kind) {
    case 'none':
    case 'prompt':
      return undefined;
    case 'help':
      return drawPane(helpRows().slice(overlay.top), {
        ...frame(layout, 'Keys', 'esc closes'),
        top: overlay.top,
        count: helpRows().length,
      });
    case 'palette':
      return palette(overlay, layout);
    case 'export':
      return exportMenu(overlay.index, layout);
    default:
      return assertNever(overlay);
  }
}

function palette(overlay: { readonly text: string; readonly index: number }, layout: Layout): Row[] {
  const found = paletteMatches(overlay.text);
  const room = Math.max(1, layout.body.height - (layout.framed ? 3 : 2));
  const top = Math.max(0, overlay.index - room + 1);
  const lines = found.slice(top, top + room).map((command, at): Row => {
    const isChosen = top + at === overlay.index;
    const keys = fit(command.keys.map(keyName).join(' '), 14);
    return {
      segments: fitSegments(
        [seg(isChosen ? ' ▸ ' : '   '), seg(keys, 'key'), seg(command.title)],
        layout.body.width - 2,
      ),
      ...(isChosen && { base: 'selected' }),
    };
  });
  const prompt: Row = { segments: [seg(' :', 'bold'), seg(overlay.text), seg('█')] };
  const rows = found.length === 0 ? [prompt, row('   no command fits', 'dim')] : [prompt, ...lines];
  return drawPane(rows, frame(layout, 'Commands', 'esc closes'));
}

function exportMenu(index: number, layout: Layout): Row[] {
  const lines = exportChoices.map((choice, at): Row => {
    const isChosen = at === index;
    return {
      segments: fitSegments(
        [seg(isChosen ? ' ▸ ' : '   '), seg(fit(choice.key, 3), 'key'), seg(choice.title)],
        layout.body.width - 2,
      ),
      ...(isChosen && { base: 'selected' }),
    };
  });
  return drawPane(
    [...lines, row(''), row('   The file is written to the working directory.', 'dim')],
    frame(layout, 'Export', 'esc closes'),
  );
}

function frame(
  layout: Layout,
  title: string,
  note: string,
): { title: string; note: string; width: number; height: number; focused: boolean; framed: boolean } {
  return { title, note, ...layout.body, focused: true, framed: layout.framed };
}
