import { ClientBase, CustomTypesConfig } from 'pg';

/** Returns rows in Postgres' text format, because most values are never parsed. */
const RAW: CustomTypesConfig = { getTypeParser: () => (text: unknown) => text };

/** Reads the rows of a query in pages. All values are text. */
export class Cursor<Row extends unknown[]> {
  private ahead: Promise<Row[]> | undefined;

  private constructor(
    private readonly client: ClientBase,
    private readonly name: string,
    private readonly pageSize: number,
  ) {}

  static async open<Row extends unknown[]>(client: ClientBase, name: string, sql: string, pageSize: number) {
    await client.query(`DECLARE verify_${name} NO SCROLL CURSOR FOR ${sql}`);
    return new Cursor<Row>(client, `verify_${name}`, pageSize);
  }

  /** Returns the next rows. An empty page is the last one. */
  next(): Promise<Row[]> {
    const page = this.ahead ?? this.fetch();
    this.ahead = undefined;
    return page;
  }

  /** Starts reading the next rows while the caller processes the current ones. */
  prefetch(): void {
    this.ahead ??= this.fetch();
  }

  async close(): Promise<void> {
    await this.ahead;
    await this.client.query(`CLOSE ${this.name}`);
  }

  private fetch(): Promise<Row[]> {
    const query = { text: `FETCH ${this.pageSize} FROM ${this.name}`, rowMode: 'array' as const, types: RAW };
    const page = this.client.query<Row>(query).then(({ rows }) => rows);
    page.catch(() => undefined); // Awaited later, or never after a fault.
    return page;
  }
}

/** Reads all rows of a query one by one. */
export async function* rowsOf<Row extends unknown[]>(
  client: ClientBase,
  name: string,
  sql: string,
  pageSize: number,
): AsyncGenerator<Row, undefined> {
  const cursor = await Cursor.open<Row>(client, name, sql, pageSize);
  try {
    for (let page = await cursor.next(); page.length > 0; page = await cursor.next()) {
      yield* page;
    }
  } finally {
    await cursor.close();
  }
  return undefined;
}
