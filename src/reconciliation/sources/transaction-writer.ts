import { Decimal } from 'decimal.js';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { ListedWallet } from '../../gateway/upstream/answers/wallets';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { copyLine } from '../../platform/database/rows/rows';
import { hex, newSalt } from '../../platform/privacy/commitment';
import { proseAsRecorded } from '../../platform/privacy/recorded';

/**
 * Size of a batch: some thousand rows in one transaction. A longer transaction would delay the sealing of the
 * log. Batches of four times that size are no faster, and use 60 MB more memory.
 */
const BATCH_BYTES = 250_000;

const COPY = `COPY upstream_transaction (
  read_id, ordinal, upstream_ref, upstream_id, batch_ref, issued_at, type, status, amount_usd, fee_usd,
  email, phone, handle, receiver, country, network_code, reference,
  recipient_salt, receiver_salt, reference_salt) FROM STDIN`;

/** Maximum amount: the column has 14 digits before the decimal point. */
const MAX_AMOUNT = new Decimal('99999999999999');

/** Stores the transactions of a source in batches. One batch is written while the next one fills. */
export class TransactionWriter {
  private lines: string[] = [];
  /** Lines as bytes. As text, they would survive many garbage collections. */
  private batch: Buffer[] = [];
  private bytes = 0;
  private writing: Promise<void> = Promise.resolve();
  /** Number of added transactions. */
  kept = 0;

  constructor(
    private readonly prisma: PrismaService,
    private readonly readId: string,
  ) {}

  /**
   * Adds a transaction.
   * @param ordinal position in the source.
   */
  add(ordinal: number, transaction: Transaction): void {
    this.kept++;
    this.lines.push(this.toLine(ordinal, transaction));
  }

  /** Writes the added transactions once a batch is full, and waits for the previous batch. Call it often. */
  async flow(): Promise<void> {
    const bytes = Buffer.from(this.lines.join(''));
    this.lines = [];
    this.batch.push(bytes);
    this.bytes += bytes.length;
    if (this.bytes >= BATCH_BYTES) await this.write();
  }

  /** Resolves once everything is written. */
  async end(): Promise<void> {
    await this.flow();
    await this.write();
    await this.writing;
  }

  private async write(): Promise<void> {
    await this.writing;
    const batch = Buffer.concat(this.batch, this.bytes);
    [this.batch, this.bytes] = [[], 0];
    this.writing = batch.length === 0 ? Promise.resolve() : this.prisma.copyIn(COPY, batch);
    this.writing.catch(() => undefined); // The next caller that waits for it gets the error.
  }

  private toLine(ordinal: number, transaction: Transaction): string {
    const { issuedAt, email, phone, handle, receiver, reference } = transaction;
    return copyLine([
      this.readId,
      String(ordinal),
      transaction.upstreamRef,
      transaction.upstreamId,
      transaction.batchRef,
      issuedAt && issuedAt.toISOString(),
      transaction.type,
      transaction.status,
      toUsd(transaction.amountUsd),
      toUsd(transaction.feeUsd),
      email,
      phone,
      handle,
      receiver,
      transaction.country,
      transaction.networkCode,
      reference,
      saltFor([email, phone, handle]),
      saltFor([receiver]),
      saltFor([reference]),
    ]);
  }
}

/** Returns a salt for the commitment to these values. Null without values. */
function saltFor(values: (string | null)[]): string | null {
  return values.every((value) => value === null) ? null : hex(newSalt());
}

/** Rounds to six decimals, half up. An impossible amount of a payout becomes null. */
function toUsd(amount: Decimal | null): string | null {
  if (amount === null || amount.abs().gt(MAX_AMOUNT)) return null;
  return amount.toDecimalPlaces(6, Decimal.ROUND_HALF_UP).toFixed();
}

/** Stores the upstream's answer about wallets. Masks contacts in the descriptions of entries. */
export async function insertWallets(
  prisma: PrismaService,
  readId: string,
  wallets: ListedWallet[],
): Promise<void> {
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
    INSERT INTO upstream_wallet_entry (
      read_id, wallet_id, ordinal, amount, balance_before, new_balance, description, entered_at)
    SELECT ${readId}::uuid, wallet_id, ordinal, amount, balance_before, new_balance, description, entered_at
    FROM json_populate_recordset(NULL::upstream_wallet_entry, ${JSON.stringify(entries)}::json)`;
}

/** Returns whether a transaction lacks a field that most comparisons need. */
export function isFaulty({ amountUsd, issuedAt }: Transaction): boolean {
  return amountUsd === null || issuedAt === null;
}

/** Returns whether a time is in a window. True if either is null. */
export function isWithin(window: { from: Date; to: Date } | null, at: Date | null): boolean {
  return window === null || at === null || (at >= window.from && at < window.to);
}
