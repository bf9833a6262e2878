import { useLocalStorage } from '@mantine/hooks';
import { OF_RECIPIENTS } from './filters';
import type { List, View, What } from './list';
import { beginOf, daysOf } from './period';

/** What somebody looks at again and again. */
export interface SavedView {
  name: string;
  view: View;
  /** Null: those that are chosen when it is opened. */
  columns: string[] | null;
  /** The period of so many days that ends whenever it is opened. */
  days?: number;
}

/** Those that anybody needs. */
export const USUAL_VIEWS: SavedView[] = [
  { name: 'In doubt', view: { in_doubt: 'true' }, columns: null },
  { name: 'Pending approval', view: { approval: 'pending' }, columns: null },
  { name: 'Rejected today', view: { outcome: 'rejected' }, columns: null, days: 1 },
  { name: 'Largest of last 7 days', view: { sort: 'amount' }, columns: null, days: 7 },
];

/** What is shown now, to be kept. A period that ends now moves on with time. */
export function viewOf({ view, chosen }: List, name: string, withRecipient: boolean): SavedView {
  const days = daysOf(view);
  const left = [...(withRecipient ? [] : OF_RECIPIENTS), ...(days === undefined ? [] : ['from'])];
  const kept = Object.fromEntries(Object.entries(view).filter(([filter]) => !left.includes(filter)));
  return { name, view: kept, columns: chosen, ...(days !== undefined && { days }) };
}

export function open({ show, choose }: List, { view, columns, days }: SavedView): void {
  show({ ...view, ...(days !== undefined && { from: beginOf(days) }) });
  if (columns) choose(columns);
}

/** They stay in this browser. */
export function useSavedViews(what: What) {
  const [kept, keep] = useLocalStorage<unknown>({ key: `payout-proxy.${what}.views`, getInitialValueInEffect: false });
  const views = Array.isArray(kept) ? (kept as SavedView[]) : [];
  const sorted = (next: SavedView[]) => keep(next.sort((a, b) => a.name.localeCompare(b.name)));
  return {
    views,
    /** Takes the place of one with the same name. */
    save: (view: SavedView) => sorted([...views.filter(({ name }) => name !== view.name), view]),
    rename: (view: SavedView, name: string) =>
      sorted([...views.filter((one) => one !== view && one.name !== name), { ...view, name }]),
    remove: (view: SavedView) => keep(views.filter((one) => one !== view)),
  };
}
