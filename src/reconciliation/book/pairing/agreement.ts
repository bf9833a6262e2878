import { namedCallSql } from '../../../operations/catalogue/payout-id';
import { KNOWN_TYPES } from '../../../operations/items/effects';
import { Prisma } from '../../../platform/database/generated/client';

/** The facts on which a listed transaction and a payout agree, and those that contradict each other. */

/** The canonical keys of a listed transaction `t`, and of an earlier sighting `e`. */
export const KEYS_LISTED = Prisma.sql`recipient_keys(t.email, t.phone, t.handle, t.receiver)`;
const KEYS_BEFORE = Prisma.sql`recipient_keys(e.email, e.phone, e.handle, e.receiver)`;

/**
 * The amount by which a listed amount may differ because it is rounded to cents: less than the difference to
 * the next cent. One that has more places is not rounded.
 */
export const roundedUsd = (amount: Prisma.Sql) =>
  Prisma.sql`CASE WHEN ${amount} = round(${amount}, 2) THEN 0.009999 ELSE 0.0000005 END`;

/**
 * The amount by which a row `t` may differ: its fee and a cent. If only a name connects both, it is the fee
 * and rounding. Otherwise the row is that of a payout of nearly the same amount.
 */
const slack = (fee: Prisma.Sql, isByName: Prisma.Sql) => Prisma.sql`${fee} + CASE WHEN NOT (${isByName})
  THEN 0.01 ELSE ${roundedUsd(Prisma.sql`t.amount_usd`)} END`;
const SLACK_USD = slack(
  Prisma.sql`coalesce(t.fee_usd, b.fee_usd, 0)`,
  Prisma.sql`b.amount_usd IS NOT NULL AND b.read_id IS NULL`,
);
const SLACK_OF_PAIR = slack(Prisma.sql`coalesce(t.fee_usd, 0)`, Prisma.sql`p.rule LIKE 'upstream%'`);

/** A row `t` has another recipient than one with these keys. */
export const hasOtherRecipient = (keys: Prisma.Sql) =>
  Prisma.sql`NOT recipients_agree(${KEYS_LISTED}, ${keys})`;

/** A row `t` has another type than this one, and both are known. */
export const hasOtherType = (type: Prisma.Sql) => Prisma.sql`(lower(t.type) <> ${type}
  AND lower(t.type) = ANY (${KNOWN_TYPES}::text[]) AND ${type} = ANY (${KNOWN_TYPES}::text[]))`;

/** A row `t` has an ID of another call than that of the payout `o`. */
const NAMES_OTHER_CALL = Prisma.sql`(t.reference <> coalesce(o.reference, '') AND EXISTS (
  SELECT FROM intent WHERE id = ${Prisma.raw(namedCallSql('t.reference'))} AND id <> o.call_id))`;

/** The fact by which a row `t` contradicts the transaction `b` of its name. Null if it agrees. */
export const CONTRADICTION = Prisma.sql`CASE
  WHEN ${NAMES_OTHER_CALL} THEN 'own_id'
  WHEN ${hasOtherRecipient(Prisma.sql`CASE WHEN o.keys <> '{}' THEN o.keys ELSE ${KEYS_BEFORE} END`)}
    THEN 'recipient'
  WHEN ${hasOtherType(Prisma.sql`coalesce(o.type, lower(e.type))`)} THEN 'type'
  WHEN least(abs(t.amount_usd - b.amount_usd), abs(t.amount_usd - o.amount_usd)) > ${SLACK_USD}
    AND NOT coalesce(o.incoming, FALSE) THEN 'amount' END`;

/** The fact by which a row `t` contradicts the payout `o` of operation `c` in the pair `p`. Null if none. */
export const CONTRADICTION_OF_PAIR = Prisma.sql`CASE
  WHEN ${NAMES_OTHER_CALL} THEN 'own_id'
  WHEN ${hasOtherRecipient(Prisma.sql`array_remove(ARRAY[o.key], NULL)`)} THEN 'recipient'
  WHEN ${hasOtherType(Prisma.sql`c.type`)} THEN 'type'
  WHEN abs(t.amount_usd - o.usd) > ${SLACK_OF_PAIR} THEN 'amount' END`;
