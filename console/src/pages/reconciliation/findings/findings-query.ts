import type { paths } from '../../../api/generated/schema';

type FindingsQuery = NonNullable<paths['/v1/reconciliation/findings']['get']['parameters']['query']>;

/** Filters of the API. */
export const FILTERS = [
  'account',
  'state',
  'category',
  'severity',
  'min_age_days',
  'max_age_days',
  'from',
  'to',
  'run_id',
  'call_id',
  'page_size',
] as const;
type Filter = (typeof FILTERS)[number];
export type Filters = Partial<Record<Filter, string>>;

/** Converts the URL to the API's parameters. The proxy checks them. */
export const toQuery = (filters: Filters, page: Pick<FindingsQuery, 'page_size' | 'page_token'> = {}) =>
  ({ ...filters, ...page }) as unknown as FindingsQuery;

/** Age groups of open findings in reports, in whole days. */
export const AGES: { name: string; label: string; filter: Pick<Filters, 'min_age_days' | 'max_age_days'> }[] =
  [
    { name: '0_to_1', label: '0–1', filter: { max_age_days: '1' } },
    { name: '2_to_7', label: '2–7', filter: { min_age_days: '2', max_age_days: '7' } },
    { name: '8_to_30', label: '8–30', filter: { min_age_days: '8', max_age_days: '30' } },
    { name: '31_or_more', label: '31+', filter: { min_age_days: '31' } },
  ];

/** Returns the URL of a list of findings. */
export function linkToFindings(filters: Filters): string {
  const query = new URLSearchParams(filters).toString();
  return `/reconciliation/findings${query && `?${query}`}`;
}
