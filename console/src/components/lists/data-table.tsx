import { Checkbox, Table } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { Empty, Failure, Loading } from '../page/states';

export interface Column<Row> {
  id: string;
  title: string;
  render: (row: Row) => ReactNode;
  /** Aligns the column to the right, for amounts and counts. */
  numeric?: boolean;
}

interface Selection {
  /** Keys of the selected rows. */
  chosen: ReadonlySet<string>;
  choose: (chosen: Set<string>) => void;
}

interface Props<Row> {
  /** Name of the rows for screen readers, such as "Calls". */
  label: string;
  columns: Column<Row>[];
  /** Undefined while loading. */
  rows: Row[] | undefined;
  keyOf: (row: Row) => string;
  /** Name of a row, for its checkbox. */
  nameOf?: (row: Row) => string;
  error?: unknown;
  retry?: () => unknown;
  /** Shown if there are no rows. */
  empty: ReactNode;
  selection?: Selection;
  /** Key of the current row. */
  current?: string | undefined;
  /** Content below a row, across all columns. Undefined shows none. */
  detailOf?: (row: Row) => ReactNode;
}

/** Shows a list as a table. On narrow screens, only the table scrolls sideways, also by keyboard. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, keyOf, error, retry, empty, selection, current, detailOf } = props;
  if (error && !rows) return <Failure error={error} retry={retry} />;
  if (!rows) return <Loading lines={8} label={`Loading ${label.toLowerCase()}`} />;
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    <div role="region" aria-label={label} tabIndex={0} style={{ overflowX: 'auto' }}>
      <Table highlightOnHover verticalSpacing={6} fz="sm" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {selection && (
              <Table.Th w={36}>
                <SelectAll {...props} rows={rows} selection={selection} />
              </Table.Th>
            )}
            {columns.map(({ id, title, numeric }) => (
              <Table.Th key={id} ta={numeric ? 'right' : 'left'} style={{ whiteSpace: 'nowrap' }}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => {
            const detail = detailOf?.(row);
            const isCurrent = keyOf(row) === current;
            return (
              <Fragment key={keyOf(row)}>
                <Table.Tr
                  aria-current={isCurrent ? true : undefined}
                  style={{ backgroundColor: isCurrent ? 'var(--mantine-primary-color-light)' : undefined }}
                >
                  {selection && (
                    <Table.Td>
                      <SelectRow {...props} row={row} selection={selection} />
                    </Table.Td>
                  )}
                  {columns.map(({ id, render, numeric }) => (
                    <Table.Td key={id} ta={numeric ? 'right' : 'left'}>
                      {render(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
                {detail !== undefined && (
                  <Table.Tr>
                    <Table.Td colSpan={columns.length + (selection ? 1 : 0)}>{detail}</Table.Td>
                  </Table.Tr>
                )}
              </Fragment>
            );
          })}
        </Table.Tbody>
      </Table>
    </div>
  );
}

type SelectionProps<Row> = Pick<Props<Row>, 'keyOf' | 'nameOf' | 'label'> & { selection: Selection };

function SelectAll<Row>({
  rows,
  keyOf,
  label,
  selection: { chosen, choose },
}: SelectionProps<Row> & { rows: Row[] }) {
  const keys = rows.map(keyOf);
  const all = keys.every((key) => chosen.has(key));
  const others = [...chosen].filter((key) => !keys.includes(key));
  return (
    <Checkbox
      size="xs"
      aria-label={`Select all ${label.toLowerCase()} on this page`}
      checked={all}
      indeterminate={!all && keys.some((key) => chosen.has(key))}
      onChange={() => choose(new Set(all ? others : [...others, ...keys]))}
    />
  );
}

function SelectRow<Row>({
  row,
  keyOf,
  nameOf,
  selection: { chosen, choose },
}: SelectionProps<Row> & { row: Row }) {
  const key = keyOf(row);
  return (
    <Checkbox
      size="xs"
      aria-label={`Select ${nameOf?.(row) ?? key}`}
      checked={chosen.has(key)}
      onChange={({ currentTarget: { checked } }) => {
        const next = new Set(chosen);
        if (checked) next.add(key);
        else next.delete(key);
        choose(next);
      }}
    />
  );
}
