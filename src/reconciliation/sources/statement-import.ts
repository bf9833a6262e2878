import { Readable } from 'node:stream';
import { PrismaService } from '../../platform/database/prisma.service';
import { identifyPeople, ignoredIn, Mapping, placesIn, StatementField } from './mapping';
import { BrokenStatement, StatementLines } from './statement-lines';
import { NumberStyle, StatementRows } from './statement-rows';
import { TransactionWriter } from './transaction-writer';

/** The most faults that are recorded. A file with more has a wrong mapping. */
export const MAX_FAULTS = 10_000;

const FAULTS_BATCH = 1_000;

interface StatementOptions extends NumberStyle {
  mapping: Mapping;
  delimiter: string;
}

/** Reads one statement into the tables of a recorded reading. */
export class StatementImport {
  rows = 0;
  faults = 0;
  /** The fields that were not read, because they identify who was paid. */
  ignored: StatementField[] = [];
  /** Whether it reads fields that identify who was paid. */
  readsPeople = false;
  private readonly lines: StatementLines;
  private readonly writer: TransactionWriter;
  private waiting: { line: number; reason: string }[] = [];

  constructor(
    private readonly prisma: PrismaService,
    private readonly readId: string,
    source: Readable,
    private readonly options: StatementOptions,
  ) {
    this.lines = new StatementLines(source, options.delimiter);
    this.writer = new TransactionWriter(prisma, readId);
  }

  get kept(): number {
    return this.writer.kept;
  }

  get bytes(): number {
    return this.lines.bytes;
  }

  /**
   * Reads the statement to its end.
   * @returns the SHA-256 of its bytes.
   * @throws BrokenStatement, MappingError
   */
  async run(): Promise<Buffer> {
    let rows: StatementRows | undefined;
    for await (const { line, cells } of this.lines.lines()) {
      if (rows) {
        await this.take(line, cells, rows);
      } else {
        const { mapping } = this.options;
        const places = placesIn(cells, mapping);
        rows = new StatementRows(cells, places, this.options);
        this.readsPeople = identifyPeople(places.keys());
        this.ignored = ignoredIn(cells, mapping);
      }
    }
    if (!rows) throw new BrokenStatement('is empty');
    await this.writer.end();
    await this.writeFaults();
    return this.lines.sha256();
  }

  private async take(line: number, cells: string[], rows: StatementRows): Promise<void> {
    this.rows++;
    const read = rows.read(cells);
    if ('transaction' in read) {
      this.writer.add(line, read.transaction);
      if (this.writer.kept % 100 === 0) await this.writer.flow();
      return;
    }
    this.faults++;
    if (this.faults > MAX_FAULTS) return;
    this.waiting.push({ line, reason: read.fault });
    if (this.waiting.length >= FAULTS_BATCH) await this.writeFaults();
  }

  private async writeFaults(): Promise<void> {
    const faults = JSON.stringify(this.waiting);
    this.waiting = [];
    await this.prisma.$executeRaw`
      INSERT INTO statement_fault (read_id, line, reason)
      SELECT ${this.readId}::uuid, line, reason FROM json_populate_recordset(NULL::statement_fault, ${faults}::json)`;
  }
}
