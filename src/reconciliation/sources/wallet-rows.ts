import { PrismaService } from '../../platform/database/prisma.service';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { ListedWallet } from '../../gateway/upstream/wallets';

/**
 * Writes the upstream's answer about the account's wallets. Descriptions of entries are kept for long, so contacts in
 * them are masked.
 */
export async function insertWallets(prisma: PrismaService, readId: string, wallets: ListedWallet[]): Promise<void> {
  const rows = wallets.map(({ id, type, balance }) => ({ wallet_id: id, type, balance: balance?.toFixed() }));
  const entries = wallets.flatMap(({ id, entries }) =>
    entries.map(({ amount, balanceBefore, newBalance, description, enteredAt }, ordinal) => ({
      wallet_id: id,
      ordinal,
      amount: amount?.toFixed(),
      balance_before: balanceBefore?.toFixed(),
      new_balance: newBalance?.toFixed(),
      description: proseAsRecorded(description),
      entered_at: enteredAt,
    })),
  );
  await prisma.$executeRaw`
    WITH wallets AS (
      INSERT INTO upstream_wallet (read_id, wallet_id, type, balance)
      SELECT ${readId}::uuid, wallet_id, type, balance
      FROM json_populate_recordset(NULL::upstream_wallet, ${JSON.stringify(rows)}::json)
    )
    INSERT INTO upstream_wallet_entry (read_id, wallet_id, ordinal, amount, balance_before, new_balance, description, entered_at)
    SELECT ${readId}::uuid, wallet_id, ordinal, amount, balance_before, new_balance, description, entered_at
    FROM json_populate_recordset(NULL::upstream_wallet_entry, ${JSON.stringify(entries)}::json)`;
}
