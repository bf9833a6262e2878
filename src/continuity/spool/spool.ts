import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { causeOf } from '../../platform/database/pools/unavailable';
import { causeOfFile } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';

/** A file is named by the ID of its entry. */
const FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/;

const PARTIAL = '.partial';

/**
 * Minimum age of an unfinished file to remove, in ms. Another process with the same DATA_DIR may still write
 * a younger one.
 */
const UNFINISHED_MS = 60_000;

/** Format of a spool's entries. */
interface Form<Entry> {
  idOf: (entry: Entry) => string;
  /** One line of JSON. */
  toText: (entry: Entry) => string;
  fromText: (text: string) => Entry;
}

/**
 * A folder with one file per entry. A file with its final name is complete, and survives a crash of the
 * process or the machine. Readable by its owner only. Its first line is the SHA-256 of the second.
 */
export class Spool<Entry> {
  constructor(
    private readonly folder: string,
    private readonly form: Form<Entry>,
  ) {}

  /** Resolves once the entry is on disk. */
  async keep(entry: Entry): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const [id, text] = [this.form.idOf(entry), this.form.toText(entry)];
    const partial = this.pathOf(`${id}${PARTIAL}`);
    await rm(partial, { force: true });
    await written(partial, `${digestOf(text)}\n${text}\n`);
    await rename(partial, this.pathOf(`${id}.json`));
    await synced(this.folder);
  }

  /** Returns the IDs of the entries. */
  async ids(): Promise<string[]> {
    return (await this.names()).flatMap((name) => FILE.exec(name)?.[1] ?? []).sort();
  }

  /**
   * Returns undefined for a missing file, such as after another process with the same DATA_DIR has written
   * its entry.
   * @throws Error if the file is damaged.
   */
  async read(id: string): Promise<Entry | undefined> {
    const content = await orIfMissing(undefined, readFile(this.pathOf(`${id}.json`), 'utf8'));
    if (content === undefined) return undefined;
    const [digest, text = ''] = content.split('\n');
    if (digest !== digestOf(text)) throw new Error('the file is damaged');
    return this.form.fromText(text);
  }

  /** Removes unfinished files of dead processes. */
  async removeUnfinished(): Promise<void> {
    for (const name of (await this.names()).filter((one) => one.endsWith(PARTIAL))) {
      const { mtimeMs } = await stat(this.pathOf(name));
      if (Date.now() - mtimeMs > UNFINISHED_MS) await rm(this.pathOf(name), { force: true });
    }
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(`${id}.json`), { force: true });
  }

  private names(): Promise<string[]> {
    return orIfMissing([], readdir(this.folder));
  }

  private pathOf(name: string): string {
    return join(this.folder, name);
  }
}

/** Resolves to another value if the file or folder is missing. */
async function orIfMissing<Value, Other>(other: Other, reading: Promise<Value>): Promise<Value | Other> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return other;
    throw error;
  });
}

async function written(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder durable. */
async function synced(folder: string): Promise<void> {
  const file = await open(folder, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const EVERY_MS = 2_000;

/** Limit of entries in memory while the disk takes none. */
const MOST_IN_MEMORY = 1_000;

interface Work<Entry> {
  spool: Spool<Entry>;
  /** Name of an entry in log lines. */
  name: string;
  storage: StorageService;
  /**
   * Writes an entry to the database unless it exists.
   * @returns whether it is certainly there.
   */
  write: (entry: Entry) => Promise<boolean>;
}

/**
 * Spools entries to disk while the database takes none, and writes them once it does: in this process, or at
 * its next start. Log lines have IDs only.
 */
export class SpoolWriter<Entry> {
  private readonly logger = new Logger('Journal');
  /** The kept entries by ID. An entry without a file is in the map itself. */
  private readonly kept = new Map<string, Entry | undefined>();
  /** IDs of kept entries that another writer still tries to write. */
  private readonly inHand = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;

  constructor(private readonly work: Work<Entry>) {}

  /** The number of entries on disk. */
  get size(): number {
    return [...this.kept.values()].filter((entry) => entry === undefined).length;
  }

  /** Number of unwritten entries, including those that another writer still tries to write. */
  get unwritten(): number {
    return new Set([...this.kept.keys(), ...this.inHand]).size;
  }

  /** Returns whether an entry is kept, or another writer still retries it. */
  has(id: string): boolean {
    return this.kept.has(id) || this.inHand.has(id);
  }

  /** Starts with the entries of an earlier process. */
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

  /** Leaves an entry to another writer until its release. */
  take(id: string): void {
    this.inHand.add(id);
  }

  /**
   * Resolves once the entry is on disk, unless it is kept already.
   * @throws Error if the disk does not take it.
   */
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

  /** Keeps an entry in memory to write it later. It does not survive the process. */
  remember(id: string, entry: Entry): void {
    if (this.kept.size < MOST_IN_MEMORY) this.kept.set(id, entry);
  }

  /** Called after the other writer wrote the entry, or left it to this one. */
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
        if (cause !== undefined && cause !== 'io_error') return; // A damaged page must not block the others.
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
