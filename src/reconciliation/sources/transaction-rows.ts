import { Decimal } from 'decimal.js';
import { PrismaService } from '../../database/prisma.service';
import { Transaction } from '../../upstream/transactions';

/** A row of upstream_transaction, as it is written; amounts are decimal text. */
export interface TransactionRow {
  ordinal: number;
  chi_ref: string | null;
  upstream_id: string | null;
  issue_id: string | null;
  issued_at: Date | null;
  type: string | null;
  status: string | null;
  amount_usd: string | null;
  fee_usd: string | null;
  email: string | null;
  phone: string | null;
  handle: string | null;
  receiver: string | null;
  country: string | null;
  network_code: string | null;
  reference: string | null;
}

/** The column has 14 digits before the point. */
const MAX_AMOUNT = new Decimal('99999999999999');

export function toRow(ordinal: number, transaction: Transaction): TransactionRow {
  const { chiRef, id, issueId, issuedAt, type, status, amountUsd, feeUsd, networkCode, ...rest } = transaction;
  const { email, phone, handle, receiver, country, reference } = rest;
  return {
    ...{ ordinal, chi_ref: chiRef, upstream_id: id, issue_id: issueId, issued_at: issuedAt, type, status },
    ...{ amount_usd: toUsd(amountUsd), fee_usd: toUsd(feeUsd), email, phone, handle, receiver, country },
    ...{ network_code: networkCode, reference },
  };
}

/** Six decimals, half up; what no payout can be is none. */
function toUsd(amount: Decimal | null): string | null {
  if (amount === null || amount.abs().gt(MAX_AMOUNT)) return null;
  return amount.toDecimalPlaces(6, Decimal.ROUND_HALF_UP).toFixed();
}

/** Writes what a source said; nothing of it is a record. */
export async function insertRows(prisma: PrismaService, readId: string, rows: TransactionRow[]): Promise<void> {
  if (rows.length === 0) return;
  await prisma.$executeRaw`
    INSERT INTO upstream_transaction (read_id, ordinal, chi_ref, upstream_id, issue_id, issued_at, type, status, amount_usd,
      fee_usd, email, phone, handle, receiver, country, network_code, reference)
    SELECT ${readId}::uuid, ordinal, chi_ref, upstream_id, issue_id, issued_at, type, status, amount_usd,
      fee_usd, email, phone, handle, receiver, country, network_code, reference
    FROM json_populate_recordset(NULL::upstream_transaction, ${JSON.stringify(rows)}::json)`;
}
