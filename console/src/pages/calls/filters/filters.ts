import {
  type CallRecord,
  type paths,
  approvalStatusValues,
  callStateValues,
} from '../../../api/generated/schema';
import { formatLocal, formatUsd } from '../../../components/values/format';
import { outcomeWords } from '../../../words/outcomes';
import { SOURCE_WORDS } from '../../../words/people';

export type Query = NonNullable<paths['/v1/audit/calls']['get']['parameters']['query']>;

type ActorSource = NonNullable<CallRecord['actor_source']>;

/** Filters with free text. */
export type FilterName = Exclude<keyof Query, 'sort' | 'page_size' | 'page_token'>;
export type Filters = Partial<Record<FilterName, string>>;

export interface Filter {
  label: string;
  /** Description below the field. */
  help?: string;
  /** Label of the active filter. */
  words: (value: string) => string;
  /** Options of a fixed list. */
  options?: { value: string; label: string }[];
}

/** Formats an instant. Shows an invalid value unchanged, and the proxy explains the error. */
const instantWords = (value: string) => (Number.isNaN(Date.parse(value)) ? value : formatLocal(value));

const named = (label: string, help?: string): Filter => ({
  label,
  words: (value) => `${label}: ${value}`,
  ...(help !== undefined && { help }),
});
const amount = (label: string, words: string): Filter => ({
  label,
  words: (value) => `${words} ${formatUsd(value)}`,
});

/** Filters of the API, by their names there and in the URL. */
export const FILTERS: Record<FilterName, Filter> = {
  from: { label: 'From', words: (value) => `from ${instantWords(value)}` },
  to: { label: 'Before', words: (value) => `before ${instantWords(value)}` },
  operation: named('Operation'),
  outcome: {
    label: 'Outcome',
    words: (value) => `Outcome: ${outcomeWords(value as CallRecord['outcome'])}`,
    options: callStateValues.map((value) => ({ value, label: outcomeWords(value) })),
  },
  recipient: named('Recipient'),
  recipient_prefix: { label: 'Recipient', words: (value) => `Recipient starts with ${value}` },
  client: named('Client', 'Name or ID'),
  account: named('Account', 'Account of the client at the upstream'),
  actor: named('Person', 'Person on whose behalf the client called (exact)'),
  actor_source: {
    label: 'Person identified by',
    words: (value) => `Person identified by: ${SOURCE_WORDS[value as ActorSource] ?? value}`,
    options: Object.entries(SOURCE_WORDS).map(([value, label]) => ({ value, label })),
  },
  person_id: named('Person ID', 'ID of the person, which remains after the name is erased'),
  key: named('Key', 'ID of the key that was used'),
  client_address: named('Address', 'Source address (exact)'),
  country: named('Country', 'Name or code, such as Kenya or KE'),
  network_code: named('Network code', 'Exactly: MPS'),
  reference: named('Reference', 'Reference of a payout (exact)'),
  upstream_ref: named('Upstream reference', 'upstream_ref, upstream_id, or batch_ref of a transaction'),
  min_item_usd: amount('Payout, at least (USD)', 'Payout of at least'),
  max_item_usd: amount('Payout, at most (USD)', 'Payout of at most'),
  min_total_usd: amount('Call, at least (USD)', 'Call of at least'),
  max_total_usd: amount('Call, at most (USD)', 'Call of at most'),
  in_doubt: {
    label: 'In doubt',
    words: (value) => (value === 'false' ? 'not in doubt' : 'in doubt'),
    options: [
      { value: 'true', label: 'in doubt' },
      { value: 'false', label: 'not in doubt' },
    ],
  },
  approval: {
    label: 'Approval',
    words: (value) => `Approval: ${value}`,
    options: approvalStatusValues.map((value) => ({ value, label: value })),
  },
  idempotency_key: named('Idempotency-Key', 'Exactly'),
  request_id: named('X-Request-Id', 'Exactly'),
};

/** Names of the filters, in the order of the URL. */
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

/** Filters behind More filters. */
export const GROUPS: { title: string; names: FilterName[] }[] = [
  {
    title: 'Requester',
    names: ['client', 'account', 'actor', 'actor_source', 'person_id', 'key', 'client_address'],
  },
  { title: 'Payout', names: ['country', 'network_code', 'reference', 'upstream_ref'] },
  { title: 'Amount', names: ['min_item_usd', 'max_item_usd', 'min_total_usd', 'max_total_usd'] },
  { title: 'Call', names: ['in_doubt', 'approval', 'idempotency_key', 'request_id'] },
];

/** Filters that identify a recipient. */
export const OF_RECIPIENTS: FilterName[] = ['recipient', 'recipient_prefix'];
