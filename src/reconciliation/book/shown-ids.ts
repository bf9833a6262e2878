import { OPERATION_NAMES } from '../../operations/catalogue/catalogue';
import { namedCallSql } from '../../operations/catalogue/payout-id';
import { CREATED_BY } from '../../operations/items/effects';
import { itemFieldsOf } from '../../operations/items/items';
import { Prisma } from '../../platform/database/generated/client';

/** Operations whose requests carry an ID of ours that their transactions may show. */
const WITH_OWN_ID = OPERATION_NAMES.filter(
  (name) => CREATED_BY.has(name) && (itemFieldsOf(name)?.ownId ?? 'nowhere') !== 'nowhere',
);
const TYPES = [...new Set(WITH_OWN_ID.map((name) => CREATED_BY.get(name)?.type))];

/** Maximum number of transactions without a reference that are compared with our records, newest first. */
const MOST_UNMARKED = 500;

/** Grounds that prove the payout of a transaction without its reference. A class is a guess. */
const CERTAIN_GROUNDS = ['answer', 'upstream_ref', 'upstream_id', 'person'];

/** IDs of ours in the transactions of one operation, as one reading shows them. */
export interface IdObservation {
  operation: string;
  /** Whether a listed transaction shows the ID of its call. */
  shown: boolean;
  /** Whether a listed transaction lacks the ID that its request had. */
  lacking: boolean;
}

/** The operations that show our IDs, by the account of the readings since the start. */
export class ShownIdsByAccount {
  private readonly accounts = new Map<string, ShownIds>();

  of(account: string): ShownIds {
    const known = this.accounts.get(account) ?? new ShownIds();
    this.accounts.set(account, known);
    return known;
  }
}

/**
 * Tracks the operations whose listed transactions show the IDs that the proxy wrote into their requests: at
 * least one showed its ID, and none lacked it. If an upstream drops the field, a missing ID proves nothing.
 */
export class ShownIds {
  private readonly shown = new Set<string>();
  private readonly lacking = new Set<string>();

  /** Adds the observations of one reading, after `enterReading` made its temporary tables. */
  async add(readId: string, query: (statement: Prisma.Sql) => Promise<IdObservation[]>): Promise<void> {
    for (const { operation, shown, lacking } of await query(observationsIn(readId))) {
      if (shown) this.shown.add(operation);
      if (lacking) this.lacking.add(operation);
    }
  }

  get operations(): ReadonlySet<string> {
    return new Set([...this.shown].filter((operation) => !this.lacking.has(operation)));
  }
}

function observationsIn(readId: string): Prisma.Sql {
  return Prisma.sql`
    WITH shown AS MATERIALIZED (
      SELECT DISTINCT i.operation FROM upstream_transaction t
      CROSS JOIN LATERAL (
        SELECT operation FROM intent WHERE id = ${Prisma.raw(namedCallSql('t.reference'))} OFFSET 0
      ) AS i
      WHERE t.read_id = ${readId}::uuid
    ), unmarked AS MATERIALIZED (
      SELECT ordinal FROM upstream_transaction
      WHERE read_id = ${readId}::uuid AND coalesce(reference, '') = ''
        AND lower(type) = ANY (${TYPES}::text[])
      ORDER BY issued_at DESC NULLS LAST LIMIT ${MOST_UNMARKED}
    ), lacking AS (
      SELECT DISTINCT i.operation FROM unmarked JOIN sighting s USING (ordinal)
      JOIN book_transaction b ON b.id = s.book_id AND b.ground = ANY (${CERTAIN_GROUNDS}::text[])
      CROSS JOIN LATERAL (SELECT operation, record FROM intent WHERE id = b.call_id OFFSET 0) AS i
      WHERE i.operation = ANY (${WITH_OWN_ID}::text[])
        -- If the ID was sent, the record has it as the reference of an item.
        AND strpos(i.record, '"reference":"' || b.call_id) > 0
        AND NOT EXISTS (SELECT FROM news n WHERE n.ordinal = s.ordinal AND n.contradiction IS NOT NULL)
    )
    SELECT operation, operation IN (SELECT operation FROM shown) AS shown,
      operation IN (SELECT operation FROM lacking) AS lacking
    FROM unnest(${WITH_OWN_ID}::text[]) AS named(operation)`;
}
