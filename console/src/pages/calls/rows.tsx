import { Box } from '@mantine/core';
import { useMemo } from 'react';
import { DataTable } from '../../components/lists/data-table';
import { type OptionalColumn, type List, LIST_NAMES } from './list';

interface Props<Row> {
  list: List;
  columns: OptionalColumn<Row>[];
  rows: Row[] | undefined;
  keyOf: (row: Row) => string;
  answer: { error: unknown; refetch: () => unknown; isPlaceholderData: boolean };
}

/** Shows a table with the selected columns. */
export function Rows<Row>({ list, columns, rows, keyOf, answer }: Props<Row>) {
  const { error, refetch: retry, isPlaceholderData } = answer;
  const label = LIST_NAMES[list.what];
  const isNarrowed = Object.keys(list.filters).length > 0;
  const chosen = list.chosen.join(' ');
  // Rendering a hundred rows is slow, so it is not repeated while the next page loads.
  const table = useMemo(() => {
    const ids = chosen.split(' ');
    const empty = isNarrowed
      ? `No ${label.toLowerCase()} match these filters. Remove a filter, or choose a longer period.`
      : `No ${label.toLowerCase()} are recorded yet. They appear here when an app sends its first request.`;
    return (
      <DataTable
        label={label}
        rows={rows}
        keyOf={keyOf}
        error={error}
        retry={retry}
        empty={empty}
        columns={columns.filter(({ id }) => ids.includes(id))}
      />
    );
  }, [chosen, columns, error, isNarrowed, keyOf, label, retry, rows]);
  return (
    <Box
      aria-busy={isPlaceholderData}
      opacity={isPlaceholderData ? 0.6 : 1}
      style={{ whiteSpace: 'nowrap' }} // Scrolling sideways is easier than reading rows of many lines.
    >
      {table}
    </Box>
  );
}
