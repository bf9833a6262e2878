import { Encoding, TYPES, Value } from './binary-array';

/** A column of rows that go to the database: its name there, its type, and what of a row stands in it. */
export type Column<Row> = {
  [Type in keyof typeof TYPES]: readonly [
    name: string,
    type: Type,
    of: (row: Row) => Value<(typeof TYPES)[Type]> | null | undefined,
  ];
}[keyof typeof TYPES];

/**
 * Rows that go into a statement as one array for each column, which costs Postgres less than JSON does, and us no names.
 * The statement's text and its values come of the same list, so that they cannot differ.
 */
export class Rows<Row> {
  /** `SELECT …, … FROM unnest($1::uuid[], …) AS rows(…, …)`. */
  readonly source: string;
  /** The number of the first parameter that is not theirs. */
  readonly next: number;

  /** @param first the number of their first parameter. */
  constructor(
    private readonly columns: readonly Column<Row>[],
    private readonly first = 1,
  ) {
    const names = columns.map(([name]) => name).join(', ');
    const arrays = columns.map(([name]) => this.parameter(name)).join(', ');
    this.source = `SELECT ${names} FROM unnest(${arrays}) AS rows(${names})`;
    this.next = this.first + columns.length;
  }

  /** The array of one column, as a statement names it: `$2::uuid[]`. */
  parameter(name: string): string {
    const place = this.columns.findIndex(([own]) => own === name);
    const column = this.columns[place];
    if (!column) throw new Error(`there is no column ${name}`);
    return `$${this.first + place}::${TYPES[column[1]].cast}`;
  }

  /** In the order of the parameters. */
  values(rows: readonly Row[]): Buffer[] {
    return this.columns.map(([, type, of]) => {
      const encoding = TYPES[type] as Encoding<unknown>;
      return encoding.array(rows.map((row): unknown => of(row)));
    });
  }
}
