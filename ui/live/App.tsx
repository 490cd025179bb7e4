import { Box } from 'ink';
import type { ReactElement } from 'react';
import { Rows } from '../terminal/Rows.tsx';
import type { Theme } from '../theme.ts';
import { TraceView } from '../trace/App.tsx';
import { liveFooterRows, liveHeader, liveTable } from './draw.ts';
import { layoutOf } from './layout.ts';
import type { LiveState } from './state.ts';

/** The live screen for a state: the table of requests, or the trace viewer of one of them. */
export function LiveView({ state, theme }: { readonly state: LiveState; readonly theme: Theme }): ReactElement {
  if (state.viewer !== undefined) return <TraceView state={state.viewer.state} theme={theme} />;
  const layout = layoutOf(state);
  return (
    <Box flexDirection="column" width={state.columns} height={state.rows}>
      <Rows rows={liveHeader(state, layout.header)} theme={theme} width={state.columns} />
      <Rows rows={liveTable(state, layout)} theme={theme} width={state.columns} />
      <Rows rows={liveFooterRows(state, layout.footer)} theme={theme} width={state.columns} />
    </Box>
  );
}
