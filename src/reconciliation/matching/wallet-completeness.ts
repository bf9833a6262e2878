import { Prisma } from '../../platform/database/generated/client';
import { Decimal } from 'decimal.js';
import { Client } from 'pg';
import { rememberedBefore } from './completeness';
import { Explained } from './entry-matching';
import { isRecordOf } from '../../journal/accounts';
import { Plan, toleranceOf } from './plan';
import { batchOf } from './wallet-offers';
import { IncompleteRecord, WalletRecord } from './totals.dto';

/** The wallets of a run, and what explains their entries. */
interface Judged {
  statements: WalletRecord[];
  /** The wallets that show at least one entry. */
  withEntries: ReadonlySet<string>;
  debits: Explained;
}

/**
 * Decides whether the entries of the wallets can be complete for the period. An entry that is not shown may be a fee or
 * a theft. Only the newest entries are shown, so they must reach back before the period, and they must be recent.
 */
export async function entryFaults(db: Client, plan: Plan, readId: string, judged: Judged): Promise<IncompleteRecord[]> {
  const { statements, withEntries } = judged;
  const { from, to, settings } = plan;
  const cut = statements.filter(
    ({ wallet_id: id, shown_since: since, closing_usd: balance }) =>
      since !== null || (!withEntries.has(id) && new Decimal(balance ?? 0).abs().gt(settings.balanceToleranceUsd)),
  );
  if (cut.length > 0) {
    const since = cut.map(({ wallet_id: id, shown_since }) => `${id} (${shown_since ?? 'no entry'})`).join(', ');
    const detail = `The upstream does not show the entries of some wallets back to ${from.toISOString()}: ${since}. What left these wallets before cannot be checked. Choose a period that starts later, and run more often.`;
    return [{ reason: 'entries_start_late', detail }];
  }
  const detail = `The upstream shows outdated entries of its wallets, so what left them until ${to.toISOString()} may be missing. Start the run again later.`;
  const isOld = (await wereNewer(db, plan, readId)) || (await lackPayouts(db, plan, readId, judged.debits));
  return isOld ? [{ reason: 'entries_outdated', detail }] : [];
}

/** Whether an earlier reading showed a newer entry of a wallet. */
async function wereNewer(db: Client, { account }: Plan, readId: string): Promise<boolean> {
  const newest = (read: Prisma.Sql) =>
    Prisma.sql`(SELECT max(e.entered_at) FROM upstream_wallet_entry e WHERE e.read_id = ${read} AND e.wallet_id = w.wallet_id)`;
  const { rowCount } = await db.query(Prisma.sql`
    SELECT FROM source_read r JOIN source_read_end x ON x.read_id = r.id AND x.complete
      CROSS JOIN upstream_wallet w
    WHERE w.read_id = ${readId}::uuid AND r.source = 'wallets' AND ${isRecordOf('r.account', account)}
      AND r.id < ${readId}::uuid AND r.id >= ${rememberedBefore(readId)}::uuid
      AND ${newest(Prisma.sql`r.id`)} > ${newest(Prisma.sql`w.read_id`)} LIMIT 1`);
  return rowCount === 1;
}

/** Whether payouts of ours moved money long before the wallets were read, and no entry shows it. */
async function lackPayouts(db: Client, plan: Plan, readId: string, debits: Explained): Promise<boolean> {
  const used = [...debits.values()];
  const wholes = used.flatMap(({ batch, single }) => (single === null ? [batch] : []));
  const singles = used.flatMap(({ single }) => single ?? []);
  const { rowCount } = await db.query(Prisma.sql`
    SELECT FROM pair p JOIN ours o ON o.n = p.o JOIN theirs t ON t.n = p.t
       JOIN compared_operation c ON c.operation = o.operation AND c.paid_at_once AND NOT c.incoming
     WHERE o.in_period AND t.word = 'moved' AND t.usd > 0 AND NOT (${batchOf(Prisma.sql`t`)} = ANY (${wholes}::text[]) OR t.n::text = ANY (${singles}::text[]))
       AND t.at < (SELECT read_at FROM source_read WHERE id = ${readId}::uuid) - make_interval(secs => ${toleranceOf(plan.settings) / 1_000}) LIMIT 1`);
  return rowCount === 1;
}
