import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
import { CATEGORY_FIELDS, FieldCategory } from './difference-fields';
import { givenBack } from './flows';
import { text } from './literals';
import { Plan } from './plan';
import { harmless, plainWord } from './recipients';

/**
 * `difference`: one row for each finding of a run, as this run sees it. Its subject is the same in every run, and names
 * nobody.
 */
export const MAKE_DIFFERENCES = `
  DROP TABLE IF EXISTS difference;
  CREATE TEMP TABLE difference (
    category text NOT NULL, subject text NOT NULL, call_id uuid, position integer, upstream_ref text, upstream_id text, batch_ref text,
    wallet_id text, occurred_at timestamptz NOT NULL, impact numeric NOT NULL, fields json NOT NULL, evidence json NOT NULL)`;

/** Assigns rows of `differing` to categories, and states the impact of each on the difference of the totals. */
const ofPayments = (givenBack: string): Record<FieldCategory, { when: string; impact: string }> => ({
  status: { when: `j.status_differs AND (j.mt OR ${givenBack} IS NULL)`, impact: 'j.status_usd' },
  refund: { when: `j.status_differs AND NOT j.mt AND ${givenBack} = 'refund'`, impact: 'j.status_usd' },
  reversal: { when: `j.status_differs AND NOT j.mt AND ${givenBack} = 'reversal'`, impact: 'j.status_usd' },
  amount_over: { when: 'j.amount_differs AND j.t > j.o', impact: 'j.amount_usd' },
  amount_under: { when: 'j.amount_differs AND j.t < j.o', impact: 'j.amount_usd' },
  fee: { when: 'j.fee_differs', impact: 'j.fee_usd' },
  recipient: { when: 'j.recipient_differs', impact: '0' },
  late: { when: 'j.late', impact: '0' },
  unrecognised_status: { when: 'j.unrecognised', impact: '0' },
  missing_upstream: { when: 'NOT j.matched AND j.mo', impact: '-j.ours_usd' },
});

export function addDifferencesOfPayments({ settings }: Plan): string {
  const rows = Object.entries(ofPayments(givenBack('t.status', settings))).map(
    ([category, { when, impact }]) => `(${text(category)}, ${when}, (${impact})::numeric)`,
  );
  // Built only for rows with a difference. Otherwise they would be built for each payment.
  const fields = Object.entries(CATEGORY_FIELDS).map(([category, made]) => `WHEN ${text(category)} THEN ${made}`);
  return `
    INSERT INTO pg_temp.difference
    SELECT d.category, 'call/' || o.call_id || '/' || o.position, o.call_id, o.position, ${harmless('coalesce(t.upstream_ref, o.upstream_ref)')},
      ${harmless('coalesce(t.upstream_id, o.upstream_id)')}, ${harmless('t.batch_ref')}, NULL, o.at, d.impact,
      CASE d.category ${fields.join('\n        ')} END,
      json_build_object('ours', ${OURS}, 'theirs', CASE WHEN t.n IS NOT NULL THEN ${THEIRS} END,
        'match', CASE WHEN j.matched THEN json_build_object('rule', j.rule, 'certainty', j.certainty) END)
    FROM differing j JOIN ours o ON o.n = j.o_n LEFT JOIN theirs t ON t.n = j.t_n
    CROSS JOIN LATERAL (VALUES ${rows.join(',\n      ')}) AS d(category, holds, impact)
    WHERE d.holds`;
}

const OURS = `json_build_object('call_id', o.call_id, 'position', o.position, 'operation', o.operation, 'at', o.at,
  'amount_usd', trim_scale(o.usd)::text, 'outcome', o.outcome)`;

const THEIRS = `json_build_object('read_id', t.read_id, 'ordinal', t.ordinal, 'upstream_ref', ${harmless('t.upstream_ref')}, 'upstream_id', ${harmless('t.upstream_id')},
  'batch_ref', ${harmless('t.batch_ref')}, 'at', t.at, 'status', ${plainWord('t.status')}, 'amount_usd', trim_scale(t.usd)::text)`;

/** Unknown transactions, duplicates of known ones, and money that came back or was charged on its own. */
export function addDifferencesOfTheirs({ source, settings }: Plan): string {
  // The position in a statement, whose content never changes. For a listing, the transaction's own data.
  const nameless =
    source === 'statement'
      ? `'statement/' || (SELECT left(encode(sha256, 'hex'), 16) FROM source_read_end e WHERE e.read_id = t.read_id) || '/' || t.ordinal`
      : `'listing/' || coalesce(${harmless('t.batch_ref')}, to_char(t.at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || trim_scale(t.usd), 'nameless')
        || '/' || row_number() OVER (PARTITION BY coalesce(t.upstream_ref, t.upstream_id), coalesce(t.batch_ref, t.at || '/' || t.usd) ORDER BY t.at, t.n)`;
  const nth = `CASE WHEN t.nth > 1 THEN '#' || t.nth ELSE '' END`;
  return `
    INSERT INTO pg_temp.difference
    SELECT CASE WHEN t.flow IS NOT NULL THEN t.flow WHEN t.duplicate THEN coalesce(${givenBack('t.status', settings)}, 'duplicate_upstream') ELSE 'missing_local' END,
      coalesce('upstream_ref/' || ${harmless('t.upstream_ref')} || ${nth}, 'upstream_id/' || ${harmless('t.upstream_id')} || ${nth}, ${nameless}),
      t.call_id, t.position, ${harmless('t.upstream_ref')}, ${harmless('t.upstream_id')}, ${harmless('t.batch_ref')}, NULL, t.when_at, t.impact,
      json_build_array(
        json_build_object('field', 'amount_usd', 'ours', NULL, 'theirs', trim_scale(t.usd)::text),
        json_build_object('field', 'status', 'ours', NULL, 'theirs', ${plainWord('t.status')})),
      json_build_object('ours', NULL, 'theirs', ${THEIRS}, 'match', NULL)
    FROM alone t`;
}

/**
 * Names the account in the subjects. Several accounts may have equal references, and the subjects of `main` are those of
 * records from before there were others.
 */
export function nameAccount({ account }: Plan): string {
  return account === MAIN_ACCOUNT
    ? ''
    : `UPDATE pg_temp.difference SET subject = ${text(`account/${account}/`)} || subject`;
}

/** A status that is not recognised also makes a row, because it was read as one that says that money moved. */
export function addOddWordsOfTheirs(): string {
  return `
    INSERT INTO pg_temp.difference
    SELECT 'unrecognised_status', d.subject, NULL, NULL, d.upstream_ref, d.upstream_id, d.batch_ref, NULL, d.occurred_at, 0,
      json_build_array(json_build_object('field', 'status', 'ours', NULL, 'theirs', d.evidence->'theirs'->>'status')), d.evidence
    FROM pg_temp.difference d
    JOIN alone t ON t.n = (d.evidence->'theirs'->>'ordinal')::bigint AND t.read_id = (d.evidence->'theirs'->>'read_id')::uuid
    WHERE t.word = 'odd' AND d.category IN ('missing_local', 'duplicate_upstream', 'refund', 'reversal', 'fee')`;
}

/** At most this many transactions are requested by name before they count as missing. */
const MOST_ASKED = 100;

/** The transactions that an answer names and the listing lacks. */
export const TO_CONFIRM = `
  SELECT DISTINCT CASE WHEN o.upstream_id IS NULL THEN 'batch' ELSE 'transaction' END AS source, coalesce(o.upstream_id, x.batch_ref) AS subject
  FROM left_ours o LEFT JOIN (SELECT call_id, min(batch_ref) AS batch_ref FROM left_name GROUP BY call_id) AS x USING (call_id)
  WHERE o.in_period AND o.moved AND coalesce(o.upstream_id, x.batch_ref) IS NOT NULL
  ORDER BY source, subject LIMIT ${MOST_ASKED}`;
