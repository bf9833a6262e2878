import { TRANSFER } from '../../operations/catalogue/transactions';
import { KNOWN_TYPES } from '../../operations/items/effects';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { Prisma } from '../../platform/database/generated/client';
import { givenBack, SET_ASIDE_FLOW } from './flows';
import { INCOMING_TYPES, Plan, withMargin } from './plan';

/**
 * Returns SQL for the meaning of a status word in the totals of a run: `moved`, `not`, `open`, or `odd` for
 * an unrecognised word. Statements without a status column list paid transactions, so a missing word counts
 * as `moved`. An `open` word is not final. It contradicts nothing, and counts as moved if the transaction has
 * no payment of ours.
 */
function statusClass(word: Prisma.Sql, vocabulary: StatusVocabulary): Prisma.Sql {
  const plain = Prisma.sql`lower(btrim(${word}))`;
  const moved = vocabulary.wordsOf('paid', 'redeemed');
  const not = vocabulary.wordsOf('unpaid', 'failed', 'expired', 'reversed', 'refunded');
  const open = vocabulary.wordsOf('pending');
  return Prisma.sql`CASE WHEN coalesce(${plain}, '') = '' OR ${plain} = ANY (${moved}::text[]) THEN 'moved'
    WHEN ${plain} = ANY (${not}::text[]) THEN 'not'
    WHEN ${plain} = ANY (${open}::text[]) THEN 'open'
    ELSE 'odd' END`;
}

/**
 * Returns the compared columns of a transaction. `n` is its ordinal in the source, and later for added ones.
 */
export function columnsOf({ from, to, settings }: Plan): Prisma.Sql {
  const vocabulary = StatusVocabulary.with(settings.statusWords);
  return Prisma.sql`upstream_ref, upstream_id, batch_ref, issued_at AS at, status,
    ${statusClass(Prisma.sql`status`, vocabulary)} AS word,
    amount_usd AS usd, fee_usd AS fee, nullif(reference, '') AS reference,
    CASE WHEN lower(type) = ANY (${KNOWN_TYPES}::text[]) THEN lower(type) END AS type,
    coalesce(lower(btrim(status)) = ANY (${vocabulary.wordsOf('unpaid')}::text[]), FALSE) AS unpaid,
    coalesce(lower(type) = ANY (${INCOMING_TYPES}::text[]), FALSE) AS incoming,
    coalesce(lower(type) = ${TRANSFER.type}::text, FALSE) AS transfer,
    ${SET_ASIDE_FLOW} AS flow,
    recipient_key('email', nullif(email, '')) AS email,
    recipient_key('phone', nullif(phone, '')) AS phone,
    recipient_key('handle', nullif(handle, '')) AS handle,
    recipient_key('receiver', nullif(receiver, '')) AS receiver,
    -- A transaction without a time belongs to the compared period.
    issued_at IS NULL OR (issued_at >= ${from}::timestamptz AND issued_at < ${to}::timestamptz) AS in_period`;
}

/** `theirs`: transactions of the period and its margin. */
export function makeTheirs(plan: Plan): Prisma.Sql {
  const margin = withMargin(plan.from, plan.to, plan.settings);
  return Prisma.sql`
    CREATE TEMP TABLE theirs AS
    SELECT ordinal AS n, read_id, ordinal, ${columnsOf(plan)}
    FROM upstream_transaction
    WHERE read_id = ${plan.readId}::uuid
      AND (issued_at IS NULL
        OR (issued_at >= ${margin.from}::timestamptz AND issued_at < ${margin.to}::timestamptz))`;
}

/** Adds transactions, numbered after the others, which may be those of our unmatched payments. */
const addTheirs = (plan: Plan, order: Prisma.Sql, which: Prisma.Sql) => Prisma.sql`
  WITH added AS (
    INSERT INTO pg_temp.theirs
    SELECT (SELECT coalesce(max(n), -1) FROM theirs) + row_number() OVER (ORDER BY ${order}),
      read_id, ordinal, ${columnsOf(plan)}
    FROM ${which} AND ${SET_ASIDE_FLOW} IS NULL RETURNING *
  )
  INSERT INTO pg_temp.unmatched_theirs SELECT added.*, NULL, NULL FROM added`;

/**
 * Adds transactions of any time that our unmatched payments name. The upstream executed them long after the
 * request.
 */
export function addDistantTheirs(plan: Plan): Prisma.Sql {
  const margin = withMargin(plan.from, plan.to, plan.settings);
  const which = Prisma.sql`upstream_transaction
    WHERE read_id = ${plan.readId}::uuid
      AND (issued_at < ${margin.from}::timestamptz OR issued_at >= ${margin.to}::timestamptz)
      AND (upstream_ref IN (SELECT upstream_ref FROM unmatched_ours WHERE upstream_ref IS NOT NULL)
        OR upstream_id IN (SELECT upstream_id FROM unmatched_ours WHERE upstream_id IS NOT NULL)
        OR batch_ref IN (SELECT batch_ref FROM unmatched_name WHERE batch_ref IS NOT NULL))`;
  return addTheirs(plan, Prisma.sql`ordinal`, which);
}

/** Adds transactions that the upstream returned by name, if its listing lacks them. */
export function addConfirmed(plan: Plan, readIds: string[]): Prisma.Sql {
  const which = Prisma.sql`(
      SELECT DISTINCT ON (name) x.*, coalesce(x.upstream_ref, x.upstream_id) AS name
      FROM upstream_transaction x JOIN source_read_end e ON e.read_id = x.read_id AND e.complete
      WHERE x.read_id = ANY (${readIds}::uuid[]) AND coalesce(x.upstream_ref, x.upstream_id) IS NOT NULL
        AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_ref = x.upstream_ref)
        AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_id = x.upstream_id)
      ORDER BY name, x.read_id, x.ordinal
    ) AS found WHERE TRUE`;
  return addTheirs(plan, Prisma.sql`name`, which);
}

/**
 * `distant_call`: calls of any time whose answers name transactions without a payment of the period. Excludes
 * the period's calls first, because expanding their documents again takes longer than the rest.
 */
export const DISTANT_CALLS = Prisma.sql`
  INSERT INTO pg_temp.distant_call
  SELECT DISTINCT x.intent_id FROM outcome_item x
  WHERE EXISTS (SELECT FROM unmatched_theirs)
    AND x.intent_id NOT IN (SELECT call_id FROM run_call)
    AND (x.upstream_ref IN (SELECT upstream_ref FROM unmatched_theirs)
      OR x.upstream_id IN (SELECT upstream_id FROM unmatched_theirs)
      OR x.batch_ref IN (SELECT batch_ref FROM unmatched_theirs))`;

/** The names in the answers to these calls. */
export const ADD_DISTANT_NAMES = Prisma.sql`INSERT INTO pg_temp.unmatched_name
  SELECT intent_id, upstream_ref, upstream_id, batch_ref
  FROM outcome_item WHERE intent_id IN (SELECT call_id FROM distant_call)`;

/** Moves the transactions other than payments from `theirs` to `set_aside`. They match no payment of ours. */
export const SET_ASIDE = Prisma.sql`
  CREATE TEMP TABLE set_aside AS TABLE theirs WITH NO DATA;
  WITH moved AS (DELETE FROM pg_temp.theirs WHERE flow IS NOT NULL RETURNING *)
  INSERT INTO pg_temp.set_aside TABLE moved`;

/** Ways in which a refund names its payment, the most certain first. */
const SAME = [
  Prisma.sql`t.upstream_ref = a.upstream_ref`,
  Prisma.sql`t.batch_ref = a.batch_ref`,
  Prisma.sql`t.reference = a.reference`,
  Prisma.sql`coalesce(t.email, t.phone, t.handle, t.receiver)
    = coalesce(a.email, a.phone, a.handle, a.receiver)`,
];

const IS_GIVEN_BACK = Prisma.sql`a.flow IN ('refund', 'reversal')`;

/**
 * Adds collections from before the period whose money was given back: by their status, or by a listed refund
 * or reversal.
 */
export function addReturnedCollections(plan: Plan): Prisma.Sql {
  const margin = withMargin(plan.from, plan.to, plan.settings);
  return Prisma.sql`
    INSERT INTO pg_temp.theirs
    SELECT (SELECT coalesce(max(n), -1) FROM theirs) + row_number() OVER (ORDER BY ordinal), t.*
    FROM (
      SELECT read_id, ordinal, ${columnsOf(plan)} FROM upstream_transaction
      WHERE read_id = ${plan.readId}::uuid AND issued_at < ${margin.from}::timestamptz
        AND lower(type) = ANY (${INCOMING_TYPES}::text[])
    ) AS t
    WHERE t.flow IS NULL AND (${givenBack(Prisma.sql`t.status`, plan.settings)} IS NOT NULL OR EXISTS (
      SELECT FROM set_aside a WHERE ${IS_GIVEN_BACK} AND t.usd = abs(a.usd)
        AND (${Prisma.join(SAME, ' OR ')})))`;
}

/**
 * `set_aside_link`: the payment or the collection of each refund or reversal. The money is `counted` there if
 * the status already shows its return.
 */
export const LINK_SET_ASIDE = Prisma.sql`
  CREATE TEMP TABLE set_aside_link AS
  SELECT DISTINCT ON (a) a, t, word = 'not' AS counted, incoming FROM (
    ${Prisma.join(
      SAME.map(
        (condition, rank) => Prisma.sql`
      SELECT a.n AS a, t.n AS t, t.word, t.incoming, ${rank}::integer AS rank
      FROM set_aside a JOIN theirs t ON t.usd = abs(a.usd) AND ${condition}
      WHERE ${IS_GIVEN_BACK}`,
      ),
      '\n    UNION ALL ',
    )}
  ) AS found ORDER BY a, rank, incoming, t`;

/**
 * Contribution of a transaction `a` with its link `l` to the upstream's total, which excludes collections.
 */
export const SET_ASIDE_WORTH = Prisma.sql`CASE WHEN a.word = 'not' OR l.incoming THEN 0
  WHEN a.flow = 'fee' THEN coalesce(a.usd, 0)
  WHEN a.flow IN ('refund', 'reversal') AND l.counted IS NOT TRUE THEN -coalesce(abs(a.usd), 0)
  ELSE 0 END`;
