import { Decimal } from 'decimal.js';
import { copyLine } from '../../database/copy-line';
import { PrismaService } from '../../database/prisma.service';
import { Transaction } from '../../upstream/transactions';

/** Some thousand rows: a statement of its own for each, as a long transaction would keep the log from being sealed. */
const BATCH_CHARACTERS = 1_000_000;

const COPY = `COPY upstream_transaction (read_id, ordinal, chi_ref, upstream_id, issue_id, issued_at, type, status, amount_usd,
  fee_usd, email, phone, handle, receiver, country, network_code, reference) FROM STDIN`;

/** The column has 14 digits before the point. */
const MAX_AMOUNT = new Decimal('99999999999999');

/** Keeps what a source said, in batches: one of them is on its way while the next one forms. */
export class TransactionWriter {
  private lines = '';
  private onItsWay: Promise<void> = Promise.resolve();
  /** How many were given. */
  kept = 0;

  constructor(
    private readonly prisma: PrismaService,
    private readonly readId: string,
  ) {}

  /** @param ordinal its place in the source. */
  add(ordinal: number, transaction: Transaction): void {
    this.kept++;
    this.lines += this.toLine(ordinal, transaction);
  }

  /** Writes what was added once that is enough, and waits as long as what was written before is on its way. */
  async flow(): Promise<void> {
    if (this.lines.length >= BATCH_CHARACTERS) await this.write();
  }

  /** Resolves once all is written. */
  async end(): Promise<void> {
    await this.write();
    await this.onItsWay;
  }

  private async write(): Promise<void> {
    await this.onItsWay;
    const lines = this.lines;
    this.lines = '';
    this.onItsWay = lines === '' ? Promise.resolve() : this.prisma.copyIn(COPY, lines);
    this.onItsWay.catch(() => undefined); // whoever waits for it next hears of it
  }

  private toLine(ordinal: number, { issuedAt, amountUsd, feeUsd, ...texts }: Transaction): string {
    const { chiRef, id, issueId, type, status, email, phone, handle, receiver, country, networkCode, reference } =
      texts;
    return copyLine([
      ...[this.readId, String(ordinal), chiRef, id, issueId, issuedAt && issuedAt.toISOString(), type, status],
      ...[toUsd(amountUsd), toUsd(feeUsd), email, phone, handle, receiver, country, networkCode, reference],
    ]);
  }
}

/** Six decimals, half up; what no payout can be is none. */
function toUsd(amount: Decimal | null): string | null {
  if (amount === null || amount.abs().gt(MAX_AMOUNT)) return null;
  return amount.toDecimalPlaces(6, Decimal.ROUND_HALF_UP).toFixed();
}
