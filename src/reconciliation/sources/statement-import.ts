import { Readable } from 'node:stream';
import { Transaction, transactionFrom } from '../../gateway/upstream/answers/transactions';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { StatementField, toFields, identifyPeople, ignoredIn, Mapping, positionsIn } from './mapping';
import { SourceContents } from './source-read';
import { BrokenStatement, StatementLines } from './statement-lines';
import { TransactionWriter } from './transaction-writer';

/** Number format: 1,234.50 or 1.234,50. */
interface NumberStyle {
  decimalComma: boolean;
}

/** A transaction, or the fault of an unusable line. The fault names columns, never values. */
type ParsedLine = { transaction: Transaction } | { fault: string };

/** Reads the lines of one statement. */
class StatementRows {
  /** Group separator and decimal sign. */
  private readonly group: string;
  private readonly point: string;
  private readonly number: RegExp;

  constructor(
    readonly header: string[],
    readonly positions: ReadonlyMap<StatementField, number>,
    { decimalComma }: NumberStyle,
  ) {
    [this.group, this.point] = decimalComma ? ['.', ','] : [',', '.'];
    this.number = new RegExp(`^[+-]?(?:\\d+|\\d{1,3}(?:\\${this.group}\\d{3})+)(?:\\${this.point}\\d+)?$`);
  }

  read(cells: string[]): ParsedLine {
    if (cells.length !== this.header.length) {
      return { fault: `has ${cells.length} columns, but the first line has ${this.header.length}` };
    }
    const values = new Map<StatementField, string>();
    for (const [field, position] of this.positions) {
      const value = valueOf(cells[position]);
      if (value !== '') values.set(field, value);
    }
    if (!values.has('amount_usd')) return this.fault('amount_usd', 'is empty');
    const transaction = transactionFrom({
      ...toFields(values),
      amount_usd: this.decimal(values.get('amount_usd')),
      fee_usd: this.decimal(values.get('fee_usd')),
      issued_at: timeOf(values.get('issued_at')),
    });
    if (transaction.amountUsd === null) return this.fault('amount_usd', 'is not an amount');
    if (transaction.feeUsd === null && values.has('fee_usd'))
      return this.fault('fee_usd', 'is not an amount');
    if (transaction.issuedAt === null && values.has('issued_at')) {
      return this.fault('issued_at', 'is not a time in ISO 8601 or in milliseconds since 1970');
    }
    return { transaction };
  }

  private fault(field: StatementField, text: string): ParsedLine {
    return { fault: `${this.header[this.positions.get(field) ?? -1]?.trim()} ${text}` };
  }

  private decimal(value: string | undefined): string | undefined {
    const number = value?.replace(/^(?:USD|\$)\s*|\s*USD$/i, '');
    if (number === undefined) return undefined;
    return this.number.test(number) ? number.replaceAll(this.group, '').replace(this.point, '.') : 'none';
  }
}

/** Removes the apostrophe that keeps spreadsheets from reading a value as a formula. */
function valueOf(cell = ''): string {
  const value = cell.trim();
  return value.startsWith("'") ? value.replace(/^'(?=[=+\-@'])/, '') : value;
}

function timeOf(value: string | undefined): string | number | undefined {
  return value !== undefined && /^\d{13}$/.test(value) ? Number(value) : value;
}

/** Maximum number of recorded faults. A file with more has a wrong mapping. */
export const MAX_FAULTS = 10_000;

const FAULTS_BATCH = 1_000;

interface StatementOptions extends NumberStyle {
  mapping: Mapping;
  delimiter: string;
}

/** A statement that was read to its end. */
interface StatementContents extends SourceContents {
  /** Fields that were skipped because they identify recipients. */
  ignored: StatementField[];
  /** Whether it has fields that identify recipients. */
  readsPeople: boolean;
}

/** Reads one statement into the tables of a recorded reading. */
export class StatementImport {
  private rows = 0;
  private faults = 0;
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

  /**
   * Reads the statement to its end.
   * @throws BrokenStatement, MappingError
   */
  async run(): Promise<StatementContents> {
    const { mapping } = this.options;
    let rows: StatementRows | undefined;
    for await (const { line, cells } of this.lines.lines()) {
      if (rows) await this.take(line, cells, rows);
      else rows = new StatementRows(cells, positionsIn(cells, mapping), this.options);
    }
    if (!rows) throw new BrokenStatement('is empty');
    await this.writer.end();
    await this.writeFaults();
    return {
      failure: null,
      httpStatus: null,
      bytes: this.lines.bytes,
      sha256: this.lines.sha256(),
      rows: this.rows,
      kept: this.writer.kept,
      faults: this.faults,
      ignored: ignoredIn(rows.header, mapping),
      readsPeople: identifyPeople(rows.positions.keys()),
    };
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
      SELECT ${this.readId}::uuid, line, reason
      FROM json_populate_recordset(NULL::statement_fault, ${faults}::json)`;
  }
}
