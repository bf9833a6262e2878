import { Decimal } from 'decimal.js';
import { PrismaService } from '../platform/database/prisma.service';
import { ofAccount } from './of-account';
import { catchUpIndex } from './search-index';

/**
 * Reads the amount of a transaction in US dollars from an account's answers to earlier calls. The largest amount counts.
 * @returns null if no answer on record names both the transaction and its amount.
 */
export async function readKnownAmount(
  prisma: PrismaService,
  account: string,
  upstreamRef: string,
): Promise<Decimal | null> {
  await catchUpIndex(prisma);
  const [row] = await prisma.$queryRaw<{ usd: string | null }[]>`
    SELECT max(amount_usd)::text AS usd FROM outcome_item
    WHERE upstream_ref = ${upstreamRef} AND intent_id = ANY (ARRAY(
      SELECT call_id FROM indexed_call
      WHERE terms @> ARRAY[search_term('ref', ${upstreamRef}::text)] AND ${ofAccount('client_id', account)}))`;
  return row?.usd ? new Decimal(row.usd) : null;
}
