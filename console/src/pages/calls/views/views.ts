import { useLocalStorage } from '@mantine/hooks';
import { OF_RECIPIENTS } from '../filters/filters';
import type { List, View, What } from '../list';
import { beginOf, daysOf } from '../filters/period';

/** A view that somebody uses repeatedly. */
interface SavedView {
  name: string;
  view: View;
  /** Null for the columns that are chosen when it is opened. */
  columns: string[] | null;
  /** The length in days of a period that ends when the view is opened. */
  days?: number;
}

/** The built-in views. */
export const USUAL_VIEWS: SavedView[] = [
  { name: 'In doubt', view: { in_doubt: 'true' }, columns: null },
  { name: 'Pending approval', view: { approval: 'pending' }, columns: null },
  { name: 'Rejected today', view: { outcome: 'rejected' }, columns: null, days: 1 },
  { name: 'Largest of last 7 days', view: { sort: 'amount' }, columns: null, days: 7 },
];

/** Returns the current view, to be saved. A period that ends now moves with time. */
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

/** The views are stored in this browser. */
export function useSavedViews(what: What) {
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
