import { Decimal } from 'decimal.js';
import { Logger } from '@nestjs/common';
import { Prisma } from '../platform/database/generated/client';
import { IntentDocument } from './documents';
import { abandon } from './settlements';
import { reserveForPayers } from './payers';

/** A copied approval of a call that the database says was rejected. */
interface Contradicted {
  record: string;
  reservedOn: string | null;
}

const logger = new Logger('Journal');

/**
 * Puts calls in doubt that were rejected after their approvals were lost: whoever rejected them did not know that they had
 * been sent. The copies of their outcomes, or the upstream's list, settle them. They count on the caps of the day of the
 * approval for good, because the decision on record has no day on which a reservation could be given back.
 * @param approvals what `CopiedLine` says about approvals.
 */
export async function doubtRejected(
  tx: Prisma.TransactionClient,
  approvals: { intent_id: string; reserved_on: string | null }[],
): Promise<void> {
  const rejected = await tx.$queryRaw<Contradicted[]>`
    SELECT i.record, a.reserved_on::text AS "reservedOn"
    FROM json_to_recordset(${JSON.stringify(approvals)}::json) AS a(intent_id uuid, reserved_on date)
    JOIN decision d ON d.intent_id = a.intent_id AND d.kind = 'rejected' JOIN intent i ON i.id = a.intent_id
    WHERE NOT EXISTS (SELECT FROM outcome o WHERE o.intent_id = a.intent_id)`;
  for (const { record, reservedOn } of rejected) {
    const intent = JSON.parse(record) as IntentDocument;
    if (!(await abandon(tx, intent))) continue;
    await tx.$executeRaw`
      INSERT INTO spending (client_id, day, usd)
      SELECT client_id, ${reservedOn}::date, total_usd + coalesce(expected_fee_usd, 0) FROM intent
      WHERE id = ${intent.id}::uuid AND total_usd IS NOT NULL AND ${reservedOn}::date IS NOT NULL
      ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd`;
    const usd = new Decimal(intent.total_usd ?? 0).plus(intent.expected_fee_usd ?? 0);
    if (intent.total_usd !== undefined && reservedOn !== null) await reserveForPayers(tx, intent.id, reservedOn, usd);
    logger.warn({ call_id: intent.id }, 'a rejected call had been approved before, and is in doubt');
  }
}
