import { useLocalStorage } from '@mantine/hooks';
import { useMemo } from 'react';
import { useAddress } from '../../components/lists/address';
import type { Column } from '../../components/lists/data-table';
import { FILTER_NAMES, FILTERS, type Filters, type Query } from './filters/filters';

export const LIST_NAMES = { calls: 'Calls', items: 'Payouts' } as const;
export type ListKind = keyof typeof LIST_NAMES;

/** Column that can be hidden. */
export interface OptionalColumn<Row> extends Column<Row> {
  /** Whether it is shown by default. */
  usual: boolean;
}

/** Parts of the URL that a saved view includes. */
const VIEW_NAMES = [...FILTER_NAMES, 'sort', 'page_size'] as const;
export type View = Partial<Record<(typeof VIEW_NAMES)[number], string>>;

export interface List {
  what: ListKind;
  /** Values of the URL, as text. */
  view: View;
  filters: Filters;
  /** The same values and the page, as a query of the API. The proxy rejects invalid ones. */
  query: Query;
  /** Sets values. Undefined removes one. */
  change: (changes: { [Name in keyof View]: View[Name] | undefined }) => void;
  /** Replaces all values. */
  show: (view: View) => void;
  columns: { id: string; title: string }[];
  chosen: string[];
  choose: (ids: string[]) => void;
}

/** State of the list of calls or payouts. The URL determines the rows, and this browser the columns. */
export function useList<Row>(what: ListKind, columns: OptionalColumn<Row>[]): List {
  const { values: view, change, page } = useAddress(VIEW_NAMES);
  const usual = useMemo(() => columns.filter((column) => column.usual).map(({ id }) => id), [columns]);
  const [kept, choose] = useLocalStorage<unknown>({
    key: `payout-proxy.${what}.columns`,
    getInitialValueInEffect: false,
  });
  const chosen = Array.isArray(kept) ? columns.map(({ id }) => id).filter((id) => kept.includes(id)) : usual;
  const { page_size: size } = view;
  const filters = Object.fromEntries(Object.entries(view).filter(([name]) => name in FILTERS)) as Filters;
  const query = {
    ...view,
    ...(size && { page_size: Number(size) || size }),
    ...page,
  };
  const show = (next: View) =>
    change({ ...Object.fromEntries(VIEW_NAMES.map((name) => [name, undefined])), ...next });
  return { what, view, filters, query: query as Query, change, show, columns, chosen, choose };
}
