import type { LimitRow } from '../../../../../src/access/clients/limits/limit-row';
import { LIMIT_TABLE } from '../../../../../src/access/clients/limits/limit-table';
import type { ChangeClientDto, ClientDto } from '../../../api/generated/schema';
import { faultsOf } from '../../../api/problem';
import { formatCount, formatUsd } from '../../../components/values/format';

type Scope = NonNullable<ChangeClientDto['scopes']>[number];
type OperationName = NonNullable<ChangeClientDto['operations']>[number];

type Table = typeof LIMIT_TABLE;

/** Limits of a client, in the order of their table. */
export const LIMITS: LimitRow[] = Object.values(LIMIT_TABLE);

/** Value of a limit in a form, by its kind. */
interface Values {
  usd: string;
  count: number | '';
  list: string[];
  flag: boolean;
}

type LimitsDraft = { [key in keyof Table as Table[key]['name']]: Values[Table[key]['kind']] };

/** Permissions of a client in a form. An empty field and the word `none` mean no limit. */
export interface Draft extends LimitsDraft {
  scopes: Scope[];
  /** Null means all, including future ones. */
  operations: OperationName[] | null;
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

const NOTHING: Values = { usd: '', count: '', list: [], flag: false };
const NO_LIMIT = Object.fromEntries(
  LIMITS.map(({ name, kind }) => [name, NOTHING[kind]]),
) as unknown as LimitsDraft;

export const NO_LIMITS: Draft = {
  scopes: [],
  operations: null,
  ...NO_LIMIT,
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

/** Input that waives the daily cap of a paying client. An empty field is not enough. */
const NONE = 'none';

const KEYS = Object.keys(NO_LIMITS) as (keyof Draft)[];

export function draftOf(client: ClientDto): Draft {
  const values = KEYS.map((key) => [key, client[key] ?? NO_LIMITS[key]] as const);
  return Object.fromEntries(values) as unknown as Draft;
}

/** Returns only the edited fields, so that concurrent changes by others are kept. */
export function editsOf<Form extends object>(draft: Form, was: Form): Partial<Form> {
  const fields = Object.entries(draft) as [keyof Form, unknown][];
  const edited = fields.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(was[key]));
  return Object.fromEntries(edited) as Partial<Form>;
}

/** Returns the edited fields as a request of the API. */
export function changesOf(draft: Draft, was: Draft): ChangeClientDto {
  const sent = (value: Draft[keyof Draft]) => (value === '' || value === NONE ? null : value);
  return Object.fromEntries(Object.entries(editsOf(draft, was)).map(([key, value]) => [key, sent(value)]));
}

export const LABELS: Record<keyof Draft, string> = {
  scopes: 'Scopes',
  operations: 'Operations',
  ...(Object.fromEntries(LIMITS.map(({ name, label }) => [name, label])) as Record<
    keyof LimitsDraft,
    string
  >),
  token_issuer: 'Token issuer',
  token_audience: 'Token audience',
  token_jwks_uri: 'URL of its keys (JWKS)',
  token_client_id: 'Client ID of the app',
  token_algorithms: 'Signature algorithms',
  token_dpop: 'Tokens bound to a key',
  token_max_age: 'Maximum age of a token in seconds',
  page_issuer: 'Page issuer',
  page_client_id: 'Client ID at the page issuer',
};

/** Meaning of each empty list. */
const EMPTY: Record<string, string> = {
  scopes: 'none',
  operations: 'none',
  token_algorithms: 'none',
  ...Object.fromEntries(LIMITS.map((row) => [row.name, row.kind === 'list' ? row.empty : ''])),
};

/** Describes a limit: `$10.00`, `no limit`, `Kenya, Nigeria`. */
export function limitInWords(key: keyof Draft, value: Draft[keyof Draft]): string {
  if (value === null) return 'all';
  if (Array.isArray(value)) return value.length === 0 ? (EMPTY[key] ?? '') : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === '' || value === NONE) return /^(token|page)_/.test(key) ? 'none' : 'no limit';
  if (typeof value === 'number') return formatCount(value);
  return key.endsWith('_usd') ? formatUsd(value) : value;
}

/** Describes the changes: `Daily cap: $10.00, was no limit`. */
export function changesInWords(draft: Draft, was: Draft): string[] {
  const changed = Object.keys(changesOf(draft, was)) as (keyof Draft)[];
  return changed.map(
    (key) => `${LABELS[key]}: ${limitInWords(key, draft[key])}, was ${limitInWords(key, was[key])}`,
  );
}

/** Returns the errors by the name of the field. */
export type Faults = Partial<Record<string, string>>;

export function faultsByField(error: unknown): Faults {
  // The first error of a field is shown.
  const byField = Object.entries(faultsOf(error)).map(([place, detail]): [string, string | undefined] => [
    place.split('/')[0] ?? '',
    detail,
  ]);
  return Object.fromEntries(byField.reverse());
}
