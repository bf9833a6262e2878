import { useLocalStorage } from '@mantine/hooks';
import { OF_RECIPIENTS } from '../filters/filters';
import { beginOf, daysOf } from '../filters/period';
import type { List, View, ListKind } from '../list';

/** Named view of a list. */
interface SavedView {
  name: string;
  view: View;
  /** Null keeps the columns that are shown when it is opened. */
  columns: string[] | null;
  /** Length in days of a period that ends when the view is opened. */
  days?: number;
}

/** Built-in views. */
export const USUAL_VIEWS: SavedView[] = [
  { name: 'In doubt', view: { in_doubt: 'true' }, columns: null },
  { name: 'Pending approval', view: { approval: 'pending' }, columns: null },
  { name: 'Rejected today', view: { outcome: 'rejected' }, columns: null, days: 1 },
  { name: 'Largest of last 7 days', view: { sort: 'amount' }, columns: null, days: 7 },
];

/** Returns the current view for saving. A period that ends now is saved by its length. */
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

/** Reads and changes the views that are stored in this browser. */
export function useSavedViews(what: ListKind) {
  const [kept, keep] = useLocalStorage<unknown>({
    key: `payout-proxy.${what}.views`,
    getInitialValueInEffect: false,
  });
  const views = Array.isArray(kept) ? (kept as SavedView[]) : [];
  const sorted = (next: SavedView[]) => keep(next.sort((a, b) => a.name.localeCompare(b.name)));
  return {
    views,
    /** Replaces a view with the same name. */
    save: (view: SavedView) => sorted([...views.filter(({ name }) => name !== view.name), view]),
    rename: (view: SavedView, name: string) =>
      sorted([...views.filter((one) => one !== view && one.name !== name), { ...view, name }]),
    remove: (view: SavedView) => keep(views.filter((one) => one !== view)),
  };
}
