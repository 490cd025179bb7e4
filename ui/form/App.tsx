import { Box } from 'ink';
import type { ReactElement } from 'react';
import { Rows } from '../terminal/Rows.tsx';
import type { Theme } from '../theme.ts';
import { formRows } from './draw.ts';
import type { FormState } from './state.ts';

/** A form for its state. */
export function FormView({ state, theme }: { readonly state: FormState; readonly theme: Theme }): ReactElement {
  return (
    <Box flexDirection="column" width={state.columns} height={state.rows}>
      <Rows rows={formRows(state)} theme={theme} width={state.columns} />
    </Box>
  );
}
