import { Box } from 'ink';
import { useMemo, type ReactElement } from 'react';
import { Rows } from '../terminal/Rows.tsx';
import type { Theme } from '../theme.ts';
import { detailPane } from './draw/detail.ts';
import { eventsPane } from './draw/events.ts';
import { footerRows } from './draw/footer.ts';
import { headerRows } from './draw/header.ts';
import { overlayPane } from './draw/overlay.ts';
import { layoutOf, type Layout } from './layout.ts';
import type { TraceState } from './state.ts';

interface ViewProps {
  readonly state: TraceState;
  readonly theme: Theme;
}

interface PartProps extends ViewProps {
  readonly layout: Layout;
}

/** The viewer for a state; it knows neither keys nor streams, so the demo's screen shows it too. */
export function TraceView({ state, theme }: ViewProps): ReactElement {
  const { columns, rows, zoomed } = state;
  const layout = useMemo(() => layoutOf({ columns, rows, zoomed }), [columns, rows, zoomed]);
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Rows rows={headerRows(state, layout.header)} theme={theme} width={columns} />
      <Body state={state} theme={theme} layout={layout} />
      <Rows rows={footerRows(state, layout.footer)} theme={theme} width={columns} />
    </Box>
  );
}

function Body({ state, theme, layout }: PartProps): ReactElement {
  const overlay = overlayPane(state, layout);
  if (overlay !== undefined) return <Rows rows={overlay} theme={theme} width={layout.body.width} />;
  if (layout.kind === 'single')
    return state.focus === 'events' ? (
      <Events state={state} theme={theme} layout={layout} />
    ) : (
      <Detail state={state} theme={theme} layout={layout} />
    );
  return (
    <Box flexDirection={layout.kind === 'side' ? 'row' : 'column'}>
      <Events state={state} theme={theme} layout={layout} />
      <Detail state={state} theme={theme} layout={layout} />
    </Box>
  );
}

function Events({ state, theme, layout }: PartProps): ReactElement {
  return <Rows rows={eventsPane(state, layout)} theme={theme} width={layout.panes.events.width} />;
}

function Detail({ state, theme, layout }: PartProps): ReactElement {
  return <Rows rows={detailPane(state, layout)} theme={theme} width={layout.panes.detail.width} />;
}
