/** Roles of the database, granted to logins. None owns anything. */
export const ROLES = ['payout_proxy', 'payout_sealer', 'payout_auditor'] as const;
export type Role = (typeof ROLES)[number];

/** Rights of roles on a table: Select, Insert, Update, Delete, Truncate. */
export type Rights = Partial<Record<Role, string>>;

const RECORD: Rights = { payout_proxy: 'SI', payout_sealer: 'S' };
const PEOPLE: Rights = { payout_proxy: 'SI' };
const WORK: Rights = { payout_proxy: 'SIU' };
const LOG: Rights = { payout_proxy: 'S', payout_sealer: 'SI' };
const MADE_BY_OWNER: Rights = { payout_proxy: 'S', payout_sealer: 'S' };
const READ: Rights = { payout_proxy: 'S' };
const SHOWN: Rights = { payout_auditor: 'S' };
const NO_ROLE: Rights = {};

/**
 * The rights on every table and view, as the migrations grant them. A start compares them with the database,
 * and test/release/roles.full.spec.ts with the operations of each role. A new table needs a row.
 */
export const TABLE_RIGHTS: Readonly<Record<string, Rights>> = {
  ...of(RECORD, 'intent', 'outcome', 'refusal', 'decision', 'settlement'),
  ...of(RECORD, 'stop', 'stop_lift', 'answer_shape', 'access', 'access_end'),
  ...of(RECORD, 'source_read', 'source_read_end', 'verdict', 'upstream_event'),
  ...of(RECORD, 'finding', 'finding_sight', 'finding_step'),
  ...of(RECORD, 'reconciliation_run', 'reconciliation_run_end', 'activity'),
  ...of(PEOPLE, 'upstream_transaction', 'upstream_wallet', 'upstream_wallet_entry', 'statement_fault'),
  ...of(PEOPLE, 'intent_body', 'outcome_body', 'refusal_key', 'access_filters'),
  reconciliation_match: { payout_proxy: 'SI' },
  ...of(
    WORK,
    'client',
    'api_key',
    'idempotency_claim',
    'spending',
    'request_window',
    'reconciliation_progress',
  ),
  ...of(WORK, 'person', 'ephemeral_key', 'payer_spending'),
  ...of(WORK, 'unheard_status', 'instance', 'process', 'pending_change'),
  ...of(WORK, 'book_transaction', 'book_contradiction'),
  epoch: { payout_proxy: 'SIU', payout_sealer: 'S' },
  recent_content: { payout_proxy: 'SID' },
  recipient_payment: { payout_proxy: 'SID' },
  unexplained_payment: { payout_proxy: 'SID' },
  beneficiary: { payout_proxy: 'SID' },
  used_token: { payout_proxy: 'SID' },
  person_identity: { payout_proxy: 'SID' },
  ...of(
    { payout_proxy: 'SIUD' },
    'console_session',
    'page_session',
    'call_fee',
    'worker_task',
    'queued_call',
  ),
  ...of(LOG, 'log_leaves', 'log_node', 'checkpoint'),
  ...of(MADE_BY_OWNER, 'erasure', 'pruning'),
  ...of(READ, 'indexed_call', 'indexed_item', 'indexed_name', 'indexed_slice', 'call_state', 'payer_cap'),
  ...of(READ, 'intent_item', 'item_recipient', 'outcome_item', 'current_settlement', 'ledger_entry'),
  ...of(READ, '_prisma_migrations', 'migration_compatibility'),
  space_reserve: NO_ROLE,
  ...of(
    NO_ROLE,
    'search_entry',
    'search_item',
    'search_name',
    'search_slice',
    'search_position',
    'call_entry',
  ),
  ...of(SHOWN, 'audit.clients', 'audit.calls', 'audit.items', 'audit.outcomes', 'audit.upstream_items'),
  ...of(
    SHOWN,
    'audit.refusals',
    'audit.decisions',
    'audit.settlements',
    'audit.settlement_entries',
    'audit.stops',
  ),
  ...of(
    SHOWN,
    'audit.accesses',
    'audit.answer_shapes',
    'audit.erasures',
    'audit.prunings',
    'audit.checkpoints',
  ),
  ...of(SHOWN, 'audit.leaves', 'audit.source_reads', 'audit.upstream_transactions', 'audit.verdicts'),
  ...of(
    SHOWN,
    'audit.upstream_events',
    'audit.reconciliation_runs',
    'audit.findings',
    'audit.finding_sights',
  ),
  ...of(SHOWN, 'audit.finding_steps', 'audit.activities'),
};

/** Roles that may execute SECURITY DEFINER functions. All other functions are public. */
export const FUNCTION_RIGHTS: Readonly<Record<string, Role[]>> = {
  'make_partitions(integer)': ['payout_proxy'],
  'index_calls(integer)': ['payout_proxy'],
  'build_search_indexes()': ['payout_proxy'],
  'search_is_complete()': ['payout_proxy'],
  'search_progress()': ['payout_proxy'],
  'calls_named(text,text[],integer,uuid,uuid)': ['payout_proxy'],
  'keep_space_reserve(bigint)': ['payout_proxy'],
  'release_space_reserve()': ['payout_proxy'],
};

/** Roles with USAGE on a schema. */
const SCHEMA_RIGHTS: Readonly<Record<string, Role[]>> = {
  public: ['payout_proxy', 'payout_sealer'],
  audit: ['payout_auditor'],
};

function of(rights: Rights, ...names: string[]): Record<string, Rights> {
  return Object.fromEntries(names.map((name) => [name, rights]));
}

/** One right, such as SELECT on a table. The kind of object is the word of GRANT. */
export interface Right {
  role: Role;
  right: string;
  kind: 'TABLE' | 'FUNCTION' | 'SCHEMA' | 'DATABASE';
  name: string;
}

const VERBS: Record<string, string> = { S: 'SELECT', I: 'INSERT', U: 'UPDATE', D: 'DELETE', T: 'TRUNCATE' };

/** Returns every right that the roles have in a database of this name. */
export function rightsIn(database: string): Right[] {
  const tables = Object.entries(TABLE_RIGHTS).flatMap(([name, rights]) =>
    Object.entries(rights).flatMap(([role, letters]) =>
      [...letters].map((letter) => rightOf('TABLE', name, VERBS[letter] ?? '', role as Role)),
    ),
  );
  // a reconciliation run compares in temporary tables
  const temporary: Record<string, Role[]> = { [database]: ['payout_proxy'] };
  return [
    ...tables,
    ...rightsOn('FUNCTION', FUNCTION_RIGHTS, 'EXECUTE'),
    ...rightsOn('SCHEMA', SCHEMA_RIGHTS, 'USAGE'),
    ...rightsOn('DATABASE', temporary, 'TEMPORARY'),
  ];
}

function rightsOn(kind: Right['kind'], names: Readonly<Record<string, Role[]>>, right: string): Right[] {
  return Object.entries(names).flatMap(([name, roles]) =>
    roles.map((role) => rightOf(kind, name, right, role)),
  );
}

function rightOf(kind: Right['kind'], name: string, right: string, role: Role): Right {
  return { role, right, kind, name };
}
