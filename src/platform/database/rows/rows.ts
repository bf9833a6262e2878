import { Encoding, TYPES, Value } from './binary-array';

/** A column of rows for the database: its name, its type, and its value in a row. */
export type Column<Row> = {
  [Type in keyof typeof TYPES]: readonly [
    name: string,
    type: Type,
    of: (row: Row) => Value<(typeof TYPES)[Type]> | null | undefined,
  ];
}[keyof typeof TYPES];

/**
 * Rows for a statement, as one array for each column. Postgres reads arrays faster than JSON. The text of the
 * statement and its values come from one list, so they always match.
 */
export class Rows<Row> {
  /** `SELECT …, … FROM unnest($1::uuid[], …) AS rows(…, …)`. */
  readonly source: string;
  /** The number of the next free parameter. */
  readonly next: number;

  /** @param first the number of the first parameter. */
  constructor(
    private readonly columns: readonly Column<Row>[],
    private readonly first = 1,
  ) {
    const names = columns.map(([name]) => name).join(', ');
    const arrays = columns.map(([name]) => this.parameter(name)).join(', ');
    this.source = `SELECT ${names} FROM unnest(${arrays}) AS rows(${names})`;
    this.next = this.first + columns.length;
  }

  /** Returns the parameter of a column: `$2::uuid[]`. */
  parameter(name: string): string {
    const place = this.columns.findIndex(([own]) => own === name);
    const column = this.columns[place];
    if (!column) throw new Error(`there is no column ${name}`);
    return `$${this.first + place}::${TYPES[column[1]].cast}`;
  }

  /** Returns the values in the order of the parameters. */
  values(rows: readonly Row[]): Buffer[] {
    return this.columns.map(([, type, of]) => {
      const encoding = TYPES[type] as Encoding<unknown>;
      return encoding.array(rows.map((row): unknown => of(row)));
    });
  }
}

const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Returns a row in the text format of COPY (PostgreSQL, COPY, "Text Format"). */
export function copyLine(values: (string | null)[]): string {
  return `${values.map(copyValue).join('\t')}\n`;
}

function copyValue(value: string | null): string {
  if (value === null) return '\\N';
  return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? '') : value;
}
