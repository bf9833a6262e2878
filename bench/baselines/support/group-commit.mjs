/** Commits the rows of concurrent requests together. Rows gather while a statement runs. */
export class GroupCommit {
  waiting = [];
  isWriting = false;

  /**
   * @param client a connection of its own.
   * @param name of the prepared statement.
   * @param text an INSERT of the rows of unnest: each parameter is a column.
   */
  constructor(client, name, text) {
    this.client = client;
    this.statement = { name, text };
  }

  /** Resolves once the row is durable. */
  add(row) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ row, resolve, reject });
      if (!this.isWriting) void this.write();
    });
  }

  async write() {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      const values = batch[0].row.map((_, column) => columnOf(batch.map(({ row }) => row[column])));
      try {
        await this.client.query({ ...this.statement, values });
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isWriting = false;
  }
}

/** Encodes an array for Postgres in binary. pg would write it as text, with bytes as hexadecimal digits. */
function columnOf(values) {
  return Buffer.isBuffer(values[0]) ? byteaArray(values) : values;
}

const BYTEA = 17; // The number of its type in pg_type.

/** Writes the format of array_recv: dimensions, null flag, type, length, lower bound, then the values. */
function byteaArray(values) {
  const header = Buffer.alloc(20);
  [1, 0, BYTEA, values.length, 1].forEach((number, index) => header.writeInt32BE(number, index * 4));
  return Buffer.concat([header, ...values.flatMap((value) => [int32(value.length), value])]);
}

function int32(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(number);
  return bytes;
}
