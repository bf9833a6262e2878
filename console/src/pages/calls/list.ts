import { useLocalStorage } from '@mantine/hooks';
import { useMemo } from 'react';
import { useAddress } from '../../components/address';
import type { Column } from '../../components/data-table';
import { FILTER_NAMES, FILTERS, type Filters, type Query } from './filters';

export const WHATS = { calls: 'Calls', items: 'Payouts' } as const;
export type What = keyof typeof WHATS;

/** A column that one may choose. */
export interface Choosable<Row> extends Column<Row> {
  /** Whether it is shown until somebody chooses. */
  usual: boolean;
}

/** What the address says beside the filters, and a saved view keeps. */
export const VIEW_NAMES = [...FILTER_NAMES, 'sort', 'page_size'] as const;
export type View = Partial<Record<(typeof VIEW_NAMES)[number], string>>;

export interface List {
  what: What;
  /** What the address says, as text. */
  view: View;
  filters: Filters;
  /** The same, and the page, as the API is asked for it; what makes no sense is the proxy's to refuse. */
  query: Query;
  /** Undefined takes a value away. */
  change: (changes: { [Name in keyof View]: View[Name] | undefined }) => void;
  /** Shows this view and nothing of the one before. */
  show: (view: View) => void;
  columns: { id: string; title: string }[];
  chosen: string[];
  choose: (ids: string[]) => void;
}

/** What one of the two lists shows: the address says which rows, this browser which columns. */
export function useList<Row>(what: What, columns: Choosable<Row>[]): List {
  const { values: view, change, pageToken } = useAddress(VIEW_NAMES);
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
    ...(pageToken && { page_token: pageToken }),
  };
  const show = (next: View) => change({ ...Object.fromEntries(VIEW_NAMES.map((name) => [name, undefined])), ...next });
  return { what, view, filters, query: query as Query, change, show, columns, chosen, choose };
}

/** The page before stays until the next one is there; but people who were shown do not stay when they are masked again. */
export const whilePaging = (reveal: boolean) =>
  reveal
    ? { gcTime: 0 }
    : {
        placeholderData: <Data>(before: Data | undefined, query: { queryKey: readonly unknown[] } | undefined) =>
          isMasked(query?.queryKey[2]) ? before : undefined,
      };

const isMasked = (asked: unknown) =>
  (asked as { headers?: Record<string, unknown> } | undefined)?.headers?.['X-People'] === 'masked';
