import { Box, Text, Transform, useIsScreenReaderEnabled } from 'ink';
import type { ReactElement } from 'react';
import type { Theme } from '../theme.ts';
import { toAnsi, type Row } from './row.ts';

interface RowsProps {
  readonly rows: readonly Row[];
  readonly theme: Theme;
  /** Cells of every row; the rows are already cut and filled to it. */
  readonly width: number;
}

/**
 * Mounts rows one below the other, as one node. Ink lays out one dot per row and the rows themselves are put in when it
 * writes: measuring each row again, grapheme by grapheme, would take half of a frame (bench/ui.ts).
 */
export function Rows({ rows, theme, width }: RowsProps): ReactElement {
  const isSpoken = useIsScreenReaderEnabled();
  const lines = rows.map((line) => toAnsi(line, theme));
  if (isSpoken) return <Text>{lines.join('\n')}</Text>;
  return (
    <Box flexShrink={0} width={width} height={rows.length}>
      <Transform transform={(_dot, at) => lines[at] ?? ''}>
        <Text>{lines.map(() => '.').join('\n')}</Text>
      </Transform>
    </Box>
  );
}
