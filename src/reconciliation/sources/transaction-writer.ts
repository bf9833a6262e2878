import { PrismaService } from '../../database/prisma.service';
import { insertRows, TransactionRow } from './transaction-rows';

const BATCH_ROWS = 2_000;

/** Writes rows in batches, one of them on its way while the next one forms. */
export class TransactionWriter {
  private batch: TransactionRow[] = [];
  private onItsWay: Promise<void> = Promise.resolve();
  /** How many were given. */
  kept = 0;

  constructor(
    private readonly prisma: PrismaService,
    private readonly readId: string,
  ) {}

  /** Waits while a batch before it is on its way. */
  async add(row: TransactionRow): Promise<void> {
    this.kept++;
    this.batch.push(row);
    if (this.batch.length >= BATCH_ROWS) await this.write();
  }

  /** Once all is written. */
  async end(): Promise<void> {
    await this.write();
    await this.onItsWay;
  }

  private async write(): Promise<void> {
    await this.onItsWay;
    const rows = this.batch;
    this.batch = [];
    this.onItsWay = insertRows(this.prisma, this.readId, rows);
    this.onItsWay.catch(() => undefined); // whoever waits for it next hears of it
  }
}
