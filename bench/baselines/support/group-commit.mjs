/** Commits the rows of concurrent requests together: while one statement is on its way, the next rows gather. */
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
      const values = batch[0].row.map((_, column) => batch.map(({ row }) => row[column]));
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
