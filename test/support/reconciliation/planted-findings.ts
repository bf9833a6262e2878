import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

const PLANTED = join(__dirname, '..', '..', '..', 'bench', 'history', 'planted');

/** A finding that a comparison must have. */
export interface PlantedFinding {
  category: string;
  subject: string;
  impact: string;
}

/** Settings of a comparison with planted differences, with fees of one percent. */
export const PLANTED_SETTINGS = {
  amountToleranceUsd: '0',
  balanceToleranceUsd: '0.000001',
  feePercent: '1',
  feeToleranceUsd: '0.01',
  timeToleranceSeconds: 900,
  lateAfterSeconds: 300,
  statusWords: [],
};

/** Writes our payments and the upstream's transactions for them, with known differences. */
export async function plant(
  ownerUrl: string,
  options: { items: number; from: Date; to: Date; readId: string; walletsReadId: string },
): Promise<PlantedFinding[]> {
  const { items, from, to, readId, walletsReadId } = options;
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    for (const [name, value] of Object.entries({ items, from: from.toISOString(), to: to.toISOString() })) {
      await owner.query('SELECT set_config($1, $2, false)', [`planted.${name}`, String(value)]);
    }
    for (const file of ['calls', 'theirs', 'wallets'])
      await owner.query(readFileSync(join(PLANTED, `${file}.sql`), 'utf8'));
    await owner.query("INSERT INTO source_read (id, source) VALUES ($1, 'transactions')", [readId]);
    await owner.query(
      `INSERT INTO upstream_transaction (
         read_id, ordinal, upstream_ref, upstream_id, batch_ref, issued_at, type, status, amount_usd, fee_usd,
         email, phone, handle, receiver, reference)
       SELECT $1, row_number() OVER (ORDER BY issued_at DESC, upstream_ref, upstream_id) - 1,
         upstream_ref, upstream_id, batch_ref, issued_at, type, status, amount_usd, fee_usd,
         email, phone, handle, receiver, reference
       FROM planted_theirs`,
      [readId],
    );
    await owner.query(
      `INSERT INTO source_read_end (read_id, complete, bytes, rows, kept, faults)
       SELECT $1, TRUE, 0, count(*), count(*), 0 FROM planted_theirs`,
      [readId],
    );
    await owner.query("INSERT INTO source_read (id, source) VALUES ($1, 'wallets')", [walletsReadId]);
    await owner.query(
      `INSERT INTO upstream_wallet (read_id, wallet_id, type, balance)
       SELECT $1, wallet_id, type, balance FROM planted_wallet`,
      [walletsReadId],
    );
    await owner.query(
      `INSERT INTO upstream_wallet_entry (
         read_id, wallet_id, ordinal, amount, balance_before, new_balance, description, entered_at)
       SELECT $1, wallet_id, ordinal, amount, balance_before, new_balance, description, at
       FROM planted_entry`,
      [walletsReadId],
    );
    const { rows } = await owner.query<PlantedFinding>(
      'SELECT category, subject, trim_scale(impact)::text AS impact FROM planted_expected',
    );
    return rows;
  } finally {
    await owner.end();
  }
}
