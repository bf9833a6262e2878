import { Box } from '@mantine/core';
import { DataTable } from '../../components/data-table';
import { type Choosable, type List, WHATS } from './list';

interface Props<Row> {
  list: List;
  columns: Choosable<Row>[];
  rows: Row[] | undefined;
  keyOf: (row: Row) => string;
  answer: { error: unknown; refetch: () => unknown; isPlaceholderData: boolean };
}

/** The table, with the columns that were chosen. */
export function Rows<Row>({ list, columns, rows, keyOf, answer }: Props<Row>) {
  const label = WHATS[list.what];
  const isNarrowed = Object.keys(list.filters).length > 0;
  return (
    <Box
      aria-busy={answer.isPlaceholderData}
      opacity={answer.isPlaceholderData ? 0.6 : 1}
      style={{ whiteSpace: 'nowrap' }} // rather wider than the screen than rows of many lines
    >
      <DataTable
        {...{ label, rows, keyOf, error: answer.error, retry: answer.refetch }}
        columns={columns.filter(({ id }) => list.chosen.includes(id))}
        empty={
          isNarrowed
            ? `No ${label.toLowerCase()} match these filters. Take one away, or look at a longer period.`
            : `There are no ${label.toLowerCase()} on record yet. They appear here as soon as an app makes some.`
        }
      />
    </Box>
  );
}
