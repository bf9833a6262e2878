import { ENTRIES, Entry, payoutStateOf } from '../../operations/lifecycle/entries';
import { EXECUTED } from '../../operations/lifecycle/lifecycle';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { givenBack } from '../book/flows';
import { CallIdRange, MOVED } from '../book/ours';
import { Plan } from '../book/plan';
import { harmless, masked, plainWord } from './recipients';

/**
 * `difference`: one row for each finding of a run, as this run sees it. Its subject is the same in every run,
 * and identifies no person.
 */
export const MAKE_DIFFERENCES = Prisma.sql`
  DROP TABLE IF EXISTS difference;
  CREATE TEMP TABLE difference (
    category text NOT NULL, subject text NOT NULL,
    call_id uuid, position integer,
    upstream_ref text, upstream_id text, batch_ref text, wallet_id text,
    occurred_at timestamptz NOT NULL, impact numeric NOT NULL,
    fields json NOT NULL, evidence json NOT NULL)`;

const usd = (amount: Prisma.Sql) => Prisma.sql`trim_scale(${amount})::text`;
const field = (name: string, ours: Prisma.Sql, theirs: Prisma.Sql) =>
  Prisma.sql`json_build_object('field', ${name}::text, 'ours', ${ours}, 'theirs', ${theirs})`;

const UPSTREAM_REF = harmless(Prisma.sql`t.upstream_ref`);
const UPSTREAM_ID = harmless(Prisma.sql`t.upstream_id`);
const BATCH_REF = harmless(Prisma.sql`t.batch_ref`);
const STATUS_WORD = plainWord(Prisma.sql`t.status`);

/** The states of payouts by their entries. */
const STATES = JSON.stringify(
  Object.fromEntries(Object.keys(ENTRIES).map((entry) => [entry, payoutStateOf(entry as Entry, 'unknown')])),
);
const STATE = Prisma.sql`${STATES}::json ->> o.entry`;
const AMOUNT = field('amount_usd', usd(Prisma.sql`o.usd`), usd(Prisma.sql`t.usd`));
const STATUS = field('status', STATE, STATUS_WORD);
const FEE = field('fee_usd', usd(Prisma.sql`j.e`), usd(Prisma.sql`j.f`));
const RECIPIENT = field(
  'recipient',
  masked(Prisma.sql`o.key`),
  masked(Prisma.sql`coalesce(t.email, t.phone, t.handle, t.receiver)`),
);

/**
 * Returns the categories of differences about a payment of ours: the condition on a row of `differing`, the
 * impact on the difference of the totals, and `finding_sight.fields` with masked people.
 */
function categoriesOf({
  settings,
}: Plan): [category: string, when: Prisma.Sql, impact: Prisma.Sql, fields: Prisma.Sql][] {
  const back = givenBack(Prisma.sql`t.status`, settings);
  const returned = (kind: string) => Prisma.sql`j.status_differs AND NOT j.mt AND ${back} = ${kind}`;
  const [none, statusUsd, amountUsd] = [Prisma.sql`0`, Prisma.sql`j.status_usd`, Prisma.sql`j.amount_usd`];
  return [
    ['status', Prisma.sql`j.status_differs AND (j.mt OR ${back} IS NULL)`, statusUsd, STATUS],
    ['refund', returned('refund'), statusUsd, STATUS],
    ['reversal', returned('reversal'), statusUsd, STATUS],
    ['amount_over', Prisma.sql`j.amount_differs AND j.t > j.o`, amountUsd, AMOUNT],
    ['amount_under', Prisma.sql`j.amount_differs AND j.t < j.o`, amountUsd, AMOUNT],
    ['fee', Prisma.sql`j.fee_differs`, Prisma.sql`j.fee_usd`, FEE],
    ['recipient', Prisma.sql`j.recipient_differs`, none, RECIPIENT],
    ['late', Prisma.sql`j.late`, none, field('at', Prisma.sql`o.at`, Prisma.sql`t.at`)],
    ['unrecognised_status', Prisma.sql`j.unrecognised`, none, STATUS],
    [
      'missing_upstream',
      Prisma.sql`NOT j.matched AND j.mo`,
      Prisma.sql`-j.ours_usd`,
      Prisma.sql`${AMOUNT}, ${STATUS}`,
    ],
  ];
}

export function addDifferencesOfPayments(plan: Plan): Prisma.Sql {
  const categories = categoriesOf(plan);
  const rows = categories.map(
    ([category, when, impact]) => Prisma.sql`(${category}, ${when}, (${impact})::numeric)`,
  );
  // Built only for rows with a difference, and not for each payment.
  const fields = categories.map(
    ([category, , , made]) => Prisma.sql`WHEN ${category} THEN json_build_array(${made})`,
  );
  return Prisma.sql`
    INSERT INTO pg_temp.difference
    SELECT d.category, 'call/' || o.call_id || '/' || o.position, o.call_id, o.position,
      ${harmless(Prisma.sql`coalesce(t.upstream_ref, o.upstream_ref)`)},
      ${harmless(Prisma.sql`coalesce(t.upstream_id, o.upstream_id)`)}, ${BATCH_REF}, NULL, o.at, d.impact,
      CASE d.category ${Prisma.join(fields, '\n        ')} END,
      json_build_object('ours', ${OURS}, 'theirs', CASE WHEN t.n IS NOT NULL THEN ${THEIRS} END,
        'match', CASE WHEN j.matched THEN json_build_object('rule', j.rule, 'certainty', j.certainty) END)
    FROM differing j JOIN ours o ON o.n = j.o_n LEFT JOIN theirs t ON t.n = j.t_n
    CROSS JOIN LATERAL (VALUES ${Prisma.join(rows, ',\n      ')}) AS d(category, holds, impact)
    WHERE d.holds`;
}

const OURS = Prisma.sql`json_build_object(
  'call_id', o.call_id, 'position', o.position, 'operation', o.operation, 'at', o.at,
  'amount_usd', trim_scale(o.usd)::text, 'outcome', o.outcome, 'state', ${STATE})`;

const THEIRS = Prisma.sql`json_build_object(
  'read_id', t.read_id, 'ordinal', t.ordinal,
  'upstream_ref', ${UPSTREAM_REF}, 'upstream_id', ${UPSTREAM_ID}, 'batch_ref', ${BATCH_REF},
  'at', t.at, 'status', ${STATUS_WORD}, 'amount_usd', trim_scale(t.usd)::text)`;

/** A field of a transaction without a payment. */
const alone = (name: string, theirs: Prisma.Sql) => field(name, Prisma.sql`NULL::text`, theirs);
const ALONE_STATUS = alone('status', STATUS_WORD);
const ALONE_FIELDS = Prisma.sql`${alone('amount_usd', usd(Prisma.sql`t.usd`))}, ${ALONE_STATUS}`;

/** The twin of a transaction: `w`, with its payment `o`. */
const TWIN_REF = harmless(Prisma.sql`w.upstream_ref`);
const TWIN_ID = harmless(Prisma.sql`w.upstream_id`);
const TWIN = Prisma.sql`json_build_object(
  'call_id', o.call_id, 'position', o.position, 'upstream_ref', ${TWIN_REF}, 'upstream_id', ${TWIN_ID},
  'batch_ref', ${harmless(Prisma.sql`w.batch_ref`)}, 'at', w.at,
  'read_id', w.read_id, 'ordinal', w.ordinal)`;
const DUPLICATE_OF = field(
  'duplicate_of',
  Prisma.sql`o.call_id || '/' || o.position`,
  Prisma.sql`coalesce(${TWIN_REF}, ${TWIN_ID})`,
);

/**
 * Adds unknown transactions, duplicates of known ones, and money returned or charged without a payment. An
 * unrecognised status also makes a row, because it was read as a status of moved money.
 */
export function addDifferencesOfTheirs({ source, settings }: Plan): Prisma.Sql {
  // The position in a statement, whose content is fixed. For a listing, the transaction's own data.
  const nameless =
    source === 'statement'
      ? Prisma.sql`'statement/'
        || (SELECT left(encode(sha256, 'hex'), 16) FROM source_read_end e WHERE e.read_id = t.read_id)
        || '/' || t.ordinal`
      : Prisma.sql`'listing/'
        || coalesce(${BATCH_REF},
          to_char(t.at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || trim_scale(t.usd), 'nameless')
        || '/' || row_number() OVER (
          PARTITION BY coalesce(t.upstream_ref, t.upstream_id), coalesce(t.batch_ref, t.at || '/' || t.usd)
          ORDER BY t.at, t.n)`;
  const nth = Prisma.sql`CASE WHEN t.nth > 1 THEN '#' || t.nth ELSE '' END`;
  const category = Prisma.sql`CASE WHEN t.flow IS NOT NULL THEN t.flow
    WHEN t.duplicate THEN coalesce(${givenBack(Prisma.sql`t.status`, settings)}, 'duplicate_upstream')
    ELSE 'missing_local' END`;
  const fields = Prisma.sql`CASE WHEN t.duplicate AND w.n IS NOT NULL
    THEN json_build_array(${ALONE_FIELDS}, ${DUPLICATE_OF}) ELSE json_build_array(${ALONE_FIELDS}) END`;
  return Prisma.sql`
    INSERT INTO pg_temp.difference
    SELECT d.category, t.subject, d.call_id, d.position, ${UPSTREAM_REF}, ${UPSTREAM_ID}, ${BATCH_REF}, NULL,
      t.when_at, d.impact, d.fields,
      json_build_object('ours', NULL, 'theirs', ${THEIRS}, 'match', NULL,
        'twin', CASE WHEN w.n IS NOT NULL THEN ${TWIN} END)
    FROM (
      SELECT t.*, coalesce('upstream_ref/' || ${UPSTREAM_REF} || ${nth},
        'upstream_id/' || ${UPSTREAM_ID} || ${nth}, ${nameless}) AS subject FROM alone t
    ) AS t
    LEFT JOIN theirs w ON w.n = t.twin LEFT JOIN pair p ON p.t = w.n LEFT JOIN ours o ON o.n = p.o
    CROSS JOIN LATERAL (VALUES
      (${category}, TRUE, o.call_id, o.position, t.impact, ${fields}),
      ('unrecognised_status', t.word = 'odd', NULL, NULL, 0, json_build_array(${ALONE_STATUS}))
    ) AS d(category, holds, call_id, position, impact, fields)
    WHERE d.holds`;
}

/** Adds the account to the subjects, except `main`. Several accounts may have equal references. */
export function nameAccount({ account }: Plan): Prisma.Sql[] {
  return account === MAIN_ACCOUNT
    ? []
    : [Prisma.sql`UPDATE pg_temp.difference SET subject = ${`account/${account}/`} || subject`];
}

/** Maximum number of transactions to look up by name before they count as missing. */
const MAX_LOOKUPS = 100;

/** Transactions that an answer names and the listing lacks. */
export const TO_CONFIRM = Prisma.sql`
  SELECT DISTINCT CASE WHEN o.upstream_id IS NULL THEN 'batch' ELSE 'transaction' END AS source,
    coalesce(o.upstream_id, x.batch_ref) AS subject
  FROM unmatched_ours o
  LEFT JOIN (
    SELECT call_id, min(batch_ref) AS batch_ref FROM unmatched_name GROUP BY call_id
  ) AS x USING (call_id)
  WHERE o.in_period AND o.moved AND coalesce(o.upstream_id, x.batch_ref) IS NOT NULL
  ORDER BY source, subject LIMIT ${MAX_LOOKUPS}`;

/** A key in the form of claims. An erased key is hashed. */
const CLAIMED = Prisma.sql`c.client_id = k.client_id AND c.operation = k.operation
  AND c.key IN (k.key, hashed_key(k.key))`;

/** Whether a payout of a call `s` has paid. */
const HAS_PAID = Prisma.sql`s.state = ANY (${EXECUTED}::text[])
  AND json_array_length(s.request -> 'items') > (
    SELECT count(*) FROM last_entries(s.call_id, s.answer -> 'entries',
      json_array_length(s.request -> 'items'), usual_entry(s.state))
    WHERE entry <> ALL (${MOVED}::text[]))`;

/**
 * Adds `key_paid_twice` for each call with a paid payout that shares its idempotency key with another such
 * call of the client and operation. Our own records decide, because the upstream's listing may match both. A
 * call takes over a key only from a call that was not executed by then, so a reuse shows a premature
 * settlement. The call that now has the key is not reported.
 */
export function addReusedKeys({ from, to }: Plan, { low, high }: CallIdRange): Prisma.Sql[] {
  const inside = Prisma.sql`BETWEEN ${low}::uuid AND ${high}::uuid`;
  return [
    Prisma.sql`CREATE TEMP TABLE keyed AS
    SELECT c.call_id, c.operation, c.at, c.outcome, i.client_id, i.total_usd,
      scoped_key(i.person_id, i.record, b.idempotency_key) AS key
    FROM run_call c JOIN intent i ON i.id = c.call_id AND i.id ${inside}
    JOIN intent_body b ON b.intent_id = c.call_id AND b.intent_id ${inside}
    WHERE c.call_id IN (SELECT call_id FROM ours WHERE entry = ANY (${MOVED}::text[]))
      AND b.idempotency_key IS NOT NULL`,
    Prisma.sql`ANALYZE keyed`,
    Prisma.sql`INSERT INTO pg_temp.difference
    SELECT 'key_paid_twice', 'call/' || k.call_id || '/key', k.call_id, 0, NULL, NULL, NULL, NULL, k.at, 0,
      json_build_array(json_build_object('field', 'other_call_id', 'ours', k.other, 'theirs', NULL)),
      json_build_object(
        'ours', json_build_object(
          'call_id', k.call_id, 'position', 0, 'operation', k.operation, 'at', k.at,
          'amount_usd', trim_scale(k.total_usd)::text, 'outcome', k.outcome),
        'theirs', NULL, 'match', NULL)
    FROM (
      SELECT *, first_value(call_id) OVER (
        PARTITION BY client_id, operation, hashed_key(key) ORDER BY keeps DESC, at, call_id) AS other
      FROM (
        SELECT k.*, c.intent_id IS NOT NULL AND c.intent_id = k.call_id AS keeps
        FROM keyed k LEFT JOIN idempotency_claim c ON ${CLAIMED}
        UNION ALL
        -- The call that now has the key may be of another period.
        SELECT s.call_id, s.operation, s.released_at, s.state, s.client_id, s.total_usd, k.key, TRUE
        FROM (
          SELECT DISTINCT c.intent_id, k.key FROM keyed k JOIN idempotency_claim c ON ${CLAIMED}
          WHERE c.intent_id <> k.call_id AND c.intent_id NOT IN (SELECT call_id FROM keyed)
        ) AS k JOIN call_state s ON s.call_id = k.intent_id AND ${HAS_PAID}
      ) AS calls
    ) AS k
    WHERE k.call_id <> k.other AND k.at >= ${from}::timestamptz AND k.at < ${to}::timestamptz`,
  ];
}
