import { Transaction, transactionFrom } from '../../gateway/upstream/transactions';
import { StatementField, toFields } from './mapping';

/** How numbers are written: 1,234.50 or 1.234,50. */
export interface NumberStyle {
  decimalComma: boolean;
}

/** A line that cannot be used. The reason names columns, never values. */
type ReadLine = { transaction: Transaction } | { fault: string };

/** Reads the lines of one statement. */
export class StatementRows {
  /** The signs that group digits, and the decimal sign. */
  private readonly group: string;
  private readonly point: string;
  private readonly number: RegExp;

  constructor(
    private readonly header: string[],
    private readonly places: ReadonlyMap<StatementField, number>,
    { decimalComma }: NumberStyle,
  ) {
    [this.group, this.point] = decimalComma ? ['.', ','] : [',', '.'];
    this.number = new RegExp(`^[+-]?(?:\\d+|\\d{1,3}(?:\\${this.group}\\d{3})+)(?:\\${this.point}\\d+)?$`);
  }

  read(cells: string[]): ReadLine {
    if (cells.length !== this.header.length) {
      return { fault: `has ${cells.length} columns, but the first line has ${this.header.length}` };
    }
    const values = new Map<StatementField, string>();
    for (const [field, place] of this.places) {
      const value = valueOf(cells[place]);
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
    if (transaction.feeUsd === null && values.has('fee_usd')) return this.fault('fee_usd', 'is not an amount');
    if (transaction.issuedAt === null && values.has('issued_at')) {
      return this.fault('issued_at', 'is not a time in ISO 8601 or in milliseconds since 1970');
    }
    return { transaction };
  }

  private fault(field: StatementField, what: string): ReadLine {
    return { fault: `${this.header[this.places.get(field) ?? -1]?.trim()} ${what}` };
  }

  private decimal(value: string | undefined): string | undefined {
    const number = value?.replace(/^(?:USD|\$)\s*|\s*USD$/i, '');
    if (number === undefined) return undefined;
    return this.number.test(number) ? number.replaceAll(this.group, '').replace(this.point, '.') : 'none';
  }
}

/** Removes the apostrophe that protects a value from being read as a formula. */
function valueOf(cell = ''): string {
  const value = cell.trim();
  return value.startsWith("'") ? value.replace(/^'(?=[=+\-@'])/, '') : value;
}

function timeOf(value: string | undefined): string | number | undefined {
  return value !== undefined && /^\d{13}$/.test(value) ? Number(value) : value;
}
