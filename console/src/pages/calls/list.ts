import { useLocalStorage } from '@mantine/hooks';
import { useMemo } from 'react';
import { useAddress } from '../../components/lists/address';
import type { Column } from '../../components/lists/data-table';
import { FILTER_NAMES, FILTERS, type Filters, type Query } from './filters/filters';

export const WHATS = { calls: 'Calls', items: 'Payouts' } as const;
export type What = keyof typeof WHATS;

/** A column that can be chosen. */
export interface Choosable<Row> extends Column<Row> {
  /** Whether it is shown by default. */
  usual: boolean;
}

/** The parts of the URL beside the filters, which a saved view includes. */
const VIEW_NAMES = [...FILTER_NAMES, 'sort', 'page_size'] as const;
export type View = Partial<Record<(typeof VIEW_NAMES)[number], string>>;

export interface List {
  what: What;
  /** The values of the URL, as text. */
  view: View;
  filters: Filters;
  /** The same values and the page, for the API. The proxy rejects invalid ones. */
  query: Query;
  /** Sets values. Undefined removes one. */
  change: (changes: { [Name in keyof View]: View[Name] | undefined }) => void;
  /** Replaces everything by this view. */
  show: (view: View) => void;
  columns: { id: string; title: string }[];
  chosen: string[];
  choose: (ids: string[]) => void;
}

/** The state of one of the two lists. The URL determines the rows, and this browser the columns. */
export function useList<Row>(what: What, columns: Choosable<Row>[]): List {
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
