import { Box, Text } from 'ink';
import { memo, type ReactElement } from 'react';
import type { Theme } from '../theme.ts';
import { toAnsi, type Row } from './row.ts';

interface RowsProps {
  readonly rows: readonly Row[];
  readonly theme: Theme;
}

/** Mounts rows one below the other. A row is one Text with its styles inside: a frame costs one node per line. */
export function Rows({ rows, theme }: RowsProps): ReactElement {
  return (
    <Box flexDirection="column" flexShrink={0}>
      {rows.map((line, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a row of the screen is its position
        <Line key={at} text={toAnsi(line, theme)} />
      ))}
    </Box>
  );
}

const Line = memo(function Line({ text }: { readonly text: string }): ReactElement {
  /* An empty Text has no height. */
  return <Text wrap="truncate">{text === '' ? ' ' : text}</Text>;
});
