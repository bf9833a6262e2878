import { Logger } from '@nestjs/common';
import { causeOf } from '../platform/database/unavailable';
import { causeOfFile } from '../platform/storage/failures';
import { StorageService } from '../platform/storage/storage.service';
import { Spool } from './spool';

const EVERY_MS = 2_000;

/** The entries that are kept in memory because the disk takes none. */
const MOST_IN_MEMORY = 1_000;

interface Work<Entry> {
  spool: Spool<Entry>;
  /** What an entry is, in lines of the log. */
  name: string;
  storage: StorageService;
  /** Writes an entry to the database, unless it is there. @returns whether it is there for certain. */
  write: (entry: Entry) => Promise<boolean>;
}

/**
 * Keeps on disk what the database does not take, and writes it once the database does: in this process, or at its next
 * start. Lines of the log have IDs only.
 */
export class SpoolWriter<Entry> {
  private readonly logger = new Logger('Journal');
  /** The entries that are kept, by ID. Those without a file are here themselves. */
  private readonly kept = new Map<string, Entry | undefined>();
  /** Those of them that somebody else still tries to write. */
  private readonly inHand = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;

  constructor(private readonly work: Work<Entry>) {}

  /** The number of entries on disk. */
  get size(): number {
    return [...this.kept.values()].filter((entry) => entry === undefined).length;
  }

  /** The number of entries that are not written: those, and what somebody else still tries to write. */
  get unwritten(): number {
    return new Set([...this.kept.keys(), ...this.inHand]).size;
  }

  /** Returns whether an entry is kept, or somebody still tries to write it after a failure. */
  has(id: string): boolean {
    return this.kept.has(id) || this.inHand.has(id);
  }

  /** Begins with what an earlier process left. */
  async start(): Promise<void> {
    try {
      for (const id of await this.work.spool.ids()) this.kept.set(id, undefined);
      await this.work.spool.removeUnfinished();
    } catch {
      this.logger.error(`spooled ${this.work.name}s cannot be read`);
    }
    this.begin();
    this.timer = setInterval(() => this.begin(), EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.working;
  }

  /** Leaves an entry to somebody who tries to write it, until its release. */
  take(id: string): void {
    this.inHand.add(id);
  }

  /** Resolves once the entry is on disk, unless it is kept already. @throws Error if the disk does not take it. */
  async keep(id: string, entry: Entry): Promise<void> {
    if (this.kept.has(id)) return;
    try {
      await this.work.spool.keep(entry);
    } catch (error) {
      const cause = causeOfFile(error);
      if (cause) this.work.storage.note('data_dir', cause, (error as NodeJS.ErrnoException).code);
      throw error;
    }
    this.kept.set(id, undefined);
  }

  /** Keeps an entry in memory, to write it later. It is lost with the process. */
  remember(id: string, entry: Entry): void {
    if (this.kept.size < MOST_IN_MEMORY) this.kept.set(id, entry);
  }

  /** The entry was written, or is left to this writer. */
  async release(id: string, isWritten: boolean): Promise<void> {
    this.inHand.delete(id);
    if (isWritten && this.kept.has(id)) await this.remove(id);
  }

  private begin(): void {
    if (this.kept.size > 0) this.working ??= this.writeAll().finally(() => (this.working = undefined));
  }

  private async writeAll(): Promise<void> {
    const { name } = this.work;
    for (const id of [...this.kept.keys()].filter((one) => !this.inHand.has(one))) {
      try {
        const entry = this.kept.get(id) ?? (await this.work.spool.read(id));
        if (!entry) this.kept.delete(id);
        if (!entry || !(await this.work.write(entry))) continue;
        await this.remove(id);
        this.logger.warn({ call_id: id }, `spooled ${name} recorded`);
      } catch (error) {
        const cause = causeOf(error);
        if (cause !== undefined && cause !== 'io_error') return; // a damaged page must not keep the others waiting
        this.logger.error({ call_id: id }, `spooled ${name} not recorded`);
      }
    }
  }

  private async remove(id: string): Promise<void> {
    const { spool, name } = this.work;
    await spool.remove(id).catch(() => this.logger.error({ call_id: id }, `spooled ${name} not removed`));
    this.kept.delete(id);
  }
}
