import { hash } from 'node:crypto';
import { Item, recipientNames } from '../../operations/items/item';
import { CLOCK_SKEW_SECONDS } from '../../operations/lifecycle/upstream-clock';
import { Prisma } from '../../platform/database/generated/client';
import { AdmissionRequest } from '../../policy/admission';

/**
 * Payments of a recovery gap that the upstream lists and no call explains. A request for the same recipient
 * and amount may be a retry of one of them, whatever its key and client.
 */

const PREFIX = 'unexplained payment ';

/** The key of a transaction's recipient, from its canonical key. Mirrors `unexplainedHash`. */
const RECIPIENT_KEY = Prisma.sql`sha256(convert_to(${PREFIX} || name.spelling, 'UTF8'))`;

const IS_OPEN = Prisma.sql`coalesce((
    SELECT (array_agg(s.state ORDER BY s.id DESC))[1] FROM finding_step s WHERE s.finding_id = f.id),
      'reopened') = 'reopened'`;

/**
 * Records the unexplained payments of a run, from its temporary tables. Skips recipients that the listing
 * does not name.
 */
export const rememberUnexplained = (toleranceUsd: string) => Prisma.sql`
  INSERT INTO unexplained_payment (recipient, finding_id, usd, tolerance_usd)
  SELECT DISTINCT ${RECIPIENT_KEY}, f.id, a.usd, ${toleranceUsd}::numeric
  FROM difference d JOIN finding f ON f.category = d.category AND f.subject = d.subject
  JOIN alone a ON a.ordinal = (d.evidence->'theirs'->>'ordinal')::bigint
    AND a.read_id = (d.evidence->'theirs'->>'read_id')::uuid
  CROSS JOIN LATERAL (VALUES (a.email), (a.phone), (a.handle), (a.receiver)) AS name(spelling)
  WHERE d.category IN ('missing_local', 'duplicate_upstream') AND a.word IS DISTINCT FROM 'not'
    AND name.spelling IS NOT NULL AND NOT a.incoming AND ${IS_OPEN}
    AND EXISTS (
      SELECT FROM epoch e WHERE d.occurred_at >= e.lost_from
        AND d.occurred_at < e.started_at + make_interval(secs => ${CLOCK_SKEW_SECONDS}))
  ON CONFLICT DO NOTHING`;

/** Deletes payments whose finding was decided or closed. */
export const FORGET_EXPLAINED = Prisma.sql`
  DELETE FROM unexplained_payment u USING finding f WHERE f.id = u.finding_id AND NOT ${IS_OPEN}`;

/** Returns the keys of the recipients of an item, one for each name. */
function recipientKeys(items: Item[]): { recipient: Buffer; usd: string }[] {
  return items.flatMap((item) => {
    const usd = item.amountUsd?.toFixed();
    if (usd === undefined) return [];
    return recipientNames(item).map(({ key }) => ({ recipient: unexplainedHash(key), usd }));
  });
}

/**
 * Returns the hash that identifies a recipient of unexplained payments. Mirrors `RECIPIENT_KEY`.
 * @param key its canonical key.
 */
export function unexplainedHash(key: string): Buffer {
  return hash('sha256', PREFIX + key, 'buffer');
}

/** Returns the requests that may repeat an unexplained payment, with the transaction of that payment. */
export async function readUnexplained(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  requests: Pick<AdmissionRequest, 'id' | 'usd' | 'items'>[],
): Promise<Map<string, string>> {
  const rows = requests.flatMap(({ id, usd, items }) =>
    usd === null
      ? []
      : recipientKeys(items).map(({ recipient, usd: amount }) => ({
          id,
          recipient: recipient.toString('hex'),
          amount,
        })),
  );
  if (rows.length === 0) return new Map();
  const found = await tx.$queryRaw<{ id: string; transaction: string }[]>`
    SELECT DISTINCT ON (a.id) a.id::text AS id,
      coalesce(f.upstream_ref, f.upstream_id, f.batch_ref, f.subject) AS transaction
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS a(id uuid, recipient text, amount numeric)
    JOIN unexplained_payment u ON u.recipient = decode(a.recipient, 'hex')
      AND (u.usd IS NULL OR abs(u.usd - a.amount) <= u.tolerance_usd)
    JOIN finding f ON f.id = u.finding_id ORDER BY a.id, f.occurred_at, f.id`;
  return new Map(found.map(({ id, transaction }) => [id, transaction]));
}
