import { Prisma } from '../../platform/database/generated/client';
import { byRank, EqualColumns, RankRule } from './pairing/ranks';
import { KEY, REFERENCE, SETTLE, USD } from './rules';

/** The recipient of theirs is that of ours, or one of them is unknown. */
const IS_SAME = Prisma.sql`coalesce(o.key IN (t.email, t.phone, t.handle, t.receiver), FALSE)`;
const IS_UNKNOWN = Prisma.sql`(o.key IS NULL OR coalesce(t.email, t.phone, t.handle, t.receiver) IS NULL)`;

/**
 * `shared_reference`: references that several rows of a side have. They break ties and prove nothing alone.
 * Rows with a partner count, too: the only one left of many is not unique.
 */
const MAKE_SHARED_REFERENCES = Prisma.sql`
  DROP TABLE IF EXISTS shared_reference;
  CREATE TEMP TABLE shared_reference AS
  SELECT reference FROM ours WHERE reference IN (SELECT reference FROM unmatched_theirs)
    GROUP BY 1 HAVING count(*) > 1
  UNION
  SELECT reference FROM theirs WHERE reference IN (SELECT reference FROM unmatched_ours)
    GROUP BY 1 HAVING count(*) > 1;
  ANALYZE shared_reference`;

const IS_UNSHARED = Prisma.sql`o.reference NOT IN (SELECT reference FROM shared_reference)`;

const sameReference = (
  equal: EqualColumns[],
  certainty: RankRule['certainty'],
  more: Partial<RankRule> = {},
) =>
  byRank({
    rule: 'reference',
    equal: [REFERENCE, ...equal],
    certainty,
    ...more,
  });

const BECAUSE_INCOMING = Prisma.sql`o.incoming AND (t.incoming OR t.type IS NULL)`;

/** The reference of a collection identifies it, because its amount is in another currency. */
const BY_COLLECTION = [
  sameReference(
    [],
    { equal: 'certain', unequal: 'possible' },
    { singleOnly: true, where: Prisma.sql`${BECAUSE_INCOMING} AND ${IS_UNSHARED}` },
  ),
  sameReference([KEY], { equal: 'certain', unequal: 'certain' }, { where: BECAUSE_INCOMING }),
];

/**
 * The same reference, recipient and amount. Then a reference that only one row of each side has, if the
 * recipients do not differ, and shared ones with another amount or an unknown recipient.
 */
const BY_REFERENCE = [
  sameReference([KEY, USD], { equal: 'certain', unequal: 'possible' }),
  sameReference(
    [],
    {
      equal: Prisma.sql`CASE WHEN ${IS_SAME} OR o.usd = t.usd THEN 'probable' ELSE 'possible' END`,
      unequal: 'possible',
    },
    { singleOnly: true, where: Prisma.sql`${IS_UNSHARED} AND (${IS_SAME} OR ${IS_UNKNOWN})` },
  ),
  sameReference([USD], { equal: 'possible', unequal: 'possible' }, { where: IS_UNKNOWN }),
  sameReference([KEY], { equal: 'probable', unequal: 'possible' }),
];

/** The rules for collections, over the remaining rows. */
export const MATCH_COLLECTIONS = [MAKE_SHARED_REFERENCES, ...BY_COLLECTION.flatMap((rule) => [rule, SETTLE])];

/** The rules that explain a difference, over the remaining rows. */
export const MATCH_REFERENCES = [MAKE_SHARED_REFERENCES, ...BY_REFERENCE.flatMap((rule) => [rule, SETTLE])];
