import { Decimal } from 'decimal.js';
import { copyLine } from '../../platform/database/copy-line';
import { PrismaService } from '../../platform/database/prisma.service';
import { Transaction } from '../../gateway/upstream/transactions';

/**
 * Some thousand rows, each batch in a transaction of its own: a long one would keep the log from being sealed. GroupCommit four
 * times as large are no faster, and cost 60 MB of memory more.
 */
const BATCH_BYTES = 250_000;

const COPY = `COPY upstream_transaction (read_id, ordinal, upstream_ref, upstream_id, batch_ref, issued_at, type, status, amount_usd,
  fee_usd, email, phone, handle, receiver, country, network_code, reference) FROM STDIN`;

/** The column has 14 digits before the point. */
const MAX_AMOUNT = new Decimal('99999999999999');

/** Keeps what a source said, in batches: one of them is on its way while the next one forms. */
export class TransactionWriter {
  private lines: string[] = [];
  /** Lines as bytes: as text they would outlive many collections of garbage. */
  private batch: Buffer[] = [];
  private bytes = 0;
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
    this.lines.push(this.toLine(ordinal, transaction));
  }

  /** To be called often. Writes what was added once that is enough, and waits as long as what was written before is on its way. */
  async flow(): Promise<void> {
    const bytes = Buffer.from(this.lines.join(''));
    this.lines = [];
    this.batch.push(bytes);
    this.bytes += bytes.length;
    if (this.bytes >= BATCH_BYTES) await this.write();
  }

  /** Resolves once all is written. */
  async end(): Promise<void> {
    await this.flow();
    await this.write();
    await this.onItsWay;
  }

  private async write(): Promise<void> {
    await this.onItsWay;
    const batch = Buffer.concat(this.batch, this.bytes);
    [this.batch, this.bytes] = [[], 0];
    this.onItsWay = batch.length === 0 ? Promise.resolve() : this.prisma.copyIn(COPY, batch);
    this.onItsWay.catch(() => undefined); // whoever waits for it next hears of it
  }

  private toLine(ordinal: number, { issuedAt, amountUsd, feeUsd, ...texts }: Transaction): string {
    const {
      upstreamRef,
      upstreamId,
      batchRef,
      type,
      status,
      email,
      phone,
      handle,
      receiver,
      country,
      networkCode,
      reference,
    } = texts;
    return copyLine([
      this.readId,
      String(ordinal),
      upstreamRef,
      upstreamId,
      batchRef,
      issuedAt && issuedAt.toISOString(),
      type,
      status,
      toUsd(amountUsd),
      toUsd(feeUsd),
      email,
      phone,
      handle,
      receiver,
      country,
      networkCode,
      reference,
    ]);
  }
}

/** Six decimals, half up; what no payout can be is none. */
function toUsd(amount: Decimal | null): string | null {
  if (amount === null || amount.abs().gt(MAX_AMOUNT)) return null;
  return amount.toDecimalPlaces(6, Decimal.ROUND_HALF_UP).toFixed();
}
