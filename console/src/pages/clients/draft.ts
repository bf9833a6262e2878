import type { ChangeClientDto, ClientDto } from '../../api/generated/schema';
import { faultsOf } from '../../api/problem';
import { formatCount, formatUsd } from '../../components/format';

export type Scope = NonNullable<ChangeClientDto['scopes']>[number];
export type OperationName = NonNullable<ChangeClientDto['operations']>[number];

/** The permissions of a client in a form. An empty field and the word `none` mean no limit. */
export interface Draft {
  scopes: Scope[];
  /** Null for all, including future ones. */
  operations: OperationName[] | null;
  daily_cap_usd: string;
  monthly_cap_usd: string;
  max_item_usd: string;
  max_call_usd: string;
  approval_over_usd: string;
  approval_over_recipient_day_usd: string;
  approval_over_day_usd: string;
  max_recipient_day_usd: string;
  hold_duplicates_days: number | '';
  max_items: number | '';
  requests_per_minute: number | '';
  countries: string[];
  addresses: string[];
  origins: string[];
  require_idempotency_key: boolean;
  beneficiaries_only: boolean;
  beneficiary_cool_off_seconds: number | '';
  person_daily_cap_usd: string;
  person_monthly_cap_usd: string;
  person_max_item_usd: string;
  person_requests_per_minute: number | '';
  token_issuer: string;
  token_audience: string;
  token_jwks_uri: string;
  token_client_id: string;
  token_algorithms: NonNullable<ChangeClientDto['token_algorithms']>;
  token_dpop: boolean;
  token_max_age: number;
  page_issuer: string;
  page_client_id: string;
}

export const NO_LIMITS: Draft = {
  scopes: [],
  operations: null,
  daily_cap_usd: '',
  monthly_cap_usd: '',
  max_item_usd: '',
  max_call_usd: '',
  approval_over_usd: '',
  approval_over_recipient_day_usd: '',
  approval_over_day_usd: '',
  max_recipient_day_usd: '',
  hold_duplicates_days: '',
  max_items: '',
  requests_per_minute: '',
  countries: [],
  addresses: [],
  origins: [],
  require_idempotency_key: false,
  beneficiaries_only: false,
  beneficiary_cool_off_seconds: '',
  person_daily_cap_usd: '',
  person_monthly_cap_usd: '',
  person_max_item_usd: '',
  person_requests_per_minute: '',
  token_issuer: '',
  token_audience: '',
  token_jwks_uri: '',
  token_client_id: '',
  token_algorithms: [],
  token_dpop: false,
  token_max_age: 86_400,
  page_issuer: '',
  page_client_id: '',
};

/** Says that a client that may pay has no daily cap. An empty field does not say so. */
const NONE = 'none';

const KEYS = Object.keys(NO_LIMITS) as (keyof Draft)[];

export function draftOf(client: ClientDto): Draft {
  const values = KEYS.map((key) => [key, client[key] ?? NO_LIMITS[key]] as const);
  return Object.fromEntries(values) as unknown as Draft;
}

/** Returns only the edited fields, so that concurrent changes of others stay. */
export function editsOf<Form extends object>(draft: Form, was: Form): Partial<Form> {
  const fields = Object.entries(draft) as [keyof Form, unknown][];
  const edited = fields.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(was[key]));
  return Object.fromEntries(edited) as Partial<Form>;
}

/** Returns the edited fields, as the API takes them. */
export function changesOf(draft: Draft, was: Draft): ChangeClientDto {
  const sent = (value: Draft[keyof Draft]) => (value === '' || value === NONE ? null : value);
  return Object.fromEntries(Object.entries(editsOf(draft, was)).map(([key, value]) => [key, sent(value)]));
}

export const LABELS: Record<keyof Draft, string> = {
  scopes: 'Scopes',
  operations: 'Operations',
  daily_cap_usd: 'Daily cap',
  monthly_cap_usd: 'Monthly cap',
  max_item_usd: 'Largest item',
  max_call_usd: 'Largest call',
  approval_over_usd: 'Approval threshold',
  approval_over_recipient_day_usd: 'Approval threshold per recipient and day',
  approval_over_day_usd: 'Approval threshold per day',
  max_recipient_day_usd: 'Largest total per recipient and day',
  hold_duplicates_days: 'Days in which equal payouts are held',
  max_items: 'Items per call',
  requests_per_minute: 'Requests per minute',
  countries: 'Countries',
  addresses: 'Addresses',
  origins: 'Web origins',
  require_idempotency_key: 'Idempotency keys',
  beneficiaries_only: 'Registered recipients',
  beneficiary_cool_off_seconds: 'Seconds in which payouts to new recipients are held',
  person_daily_cap_usd: 'Each person per day',
  person_monthly_cap_usd: 'Each person per month',
  person_max_item_usd: 'Each person per item',
  person_requests_per_minute: 'Requests of each person per minute',
  token_issuer: 'Token issuer',
  token_audience: 'Token audience',
  token_jwks_uri: 'Address of its keys',
  token_client_id: 'App at the issuer',
  token_algorithms: 'Signature algorithms',
  token_dpop: 'Tokens bound to a key',
  token_max_age: 'Largest age of a token in seconds',
  page_issuer: 'Page issuer',
  page_client_id: 'Client at the page issuer',
};

/** The meaning of each empty list. */
const EMPTY: Partial<Record<keyof Draft, string>> = {
  scopes: 'none',
  operations: 'none',
  origins: 'none',
  token_algorithms: 'none',
};

/** Describes a limit: `$10.00`, `no limit`, `Kenya, Nigeria`. */
export function limitInWords(key: keyof Draft, value: Draft[keyof Draft]): string {
  if (value === null) return 'all';
  if (Array.isArray(value)) return value.length === 0 ? (EMPTY[key] ?? 'any') : value.join(', ');
  if (typeof value === 'boolean') return value ? 'required' : 'optional';
  if (value === '' || value === NONE) return /^(token|page)_/.test(key) ? 'none' : 'no limit';
  if (typeof value === 'number') return formatCount(value);
  return key.endsWith('_usd') ? formatUsd(value) : value;
}

/** Describes the changes: `Daily cap: $10.00, from no limit`. */
export function changesInWords(draft: Draft, was: Draft): string[] {
  const changed = Object.keys(changesOf(draft, was)) as (keyof Draft)[];
  return changed.map((key) => `${LABELS[key]}: ${limitInWords(key, draft[key])}, was ${limitInWords(key, was[key])}`);
}

/** Returns the errors, by the name of the field. */
export type Faults = Partial<Record<string, string>>;

export function faultsByField(error: unknown): Faults {
  // If a field has several, the first is shown.
  const byField = Object.entries(faultsOf(error)).map(([place, detail]): [string, string | undefined] => [
    place.split('/')[0] ?? '',
    detail,
  ]);
  return Object.fromEntries(byField.reverse());
}
