import { INestApplicationContext } from '@nestjs/common';
import { Client } from 'pg';
import { RunningConfig } from '../../../../src/platform/config/config';
import { BookService, Reading } from '../../../../src/reconciliation/book/book.service';
import { connectForRun } from '../../../../src/reconciliation/book/connection';
import { startProxy, TestProxy } from '../../processes/proxy';
import { World } from './small-world';
import { ListedRow, PlacedWorld, writeReading, writeWorlds } from './world-records';

const NOWHERE = 'http://127.0.0.1:9';

/** A book that the test alone enters readings in, in one account after the other. */
export class BookScene {
  /** The signal of every entry. */
  readonly signal = new AbortController().signal;
  private readonly start = Date.now() - 86_400_000;
  private accounts = 0;

  private constructor(
    readonly proxy: TestProxy,
    readonly worker: INestApplicationContext,
    private readonly db: Client,
  ) {}

  static async begin(settings: Partial<RunningConfig> = {}): Promise<BookScene> {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    const proxy = await startProxy({ upstreamBaseUrl: NOWHERE, ...never, ...settings });
    const worker = await proxy.startWorker();
    const { url: databaseUrl, ownerUrl: databaseOwnerUrl } = proxy.database;
    return new BookScene(proxy, worker, await connectForRun({ databaseUrl, databaseOwnerUrl }));
  }

  async close(): Promise<void> {
    await this.db.end();
    await this.proxy.close();
  }

  /** Writes the calls of worlds in an account of their own. */
  async place(worlds: World[], showsIds = false): Promise<{ account: string; placed: PlacedWorld[] }> {
    const account = `account-${(this.accounts += 1)}`;
    const { start } = this;
    return { account, placed: await writeWorlds(this.proxy.database, account, worlds, { start, showsIds }) };
  }

  /** Writes a reading of an account. */
  async read(account: string, listed: ListedRow[]): Promise<Reading> {
    const readId = await writeReading(this.proxy.database, account, listed, this.start);
    return { account, readId, source: 'poll', isQuiet: () => true };
  }

  async enter(reading: Reading): Promise<void> {
    await this.worker.get(BookService).enterWith(this.db, reading, this.signal);
  }
}
