import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { causeOf } from '../../platform/database/pools/unavailable';
import { causeOfFile } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';

/** The name of a file is the ID of its entry. */
const FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/;

const PARTIAL = '.partial';

/** Another process with the same DATA_DIR may still write a younger file. */
const UNFINISHED_MS = 60_000;

/** How the entries of a spool are written. */
interface Form<Entry> {
  idOf: (entry: Entry) => string;
  /** One line of JSON. */
  toText: (entry: Entry) => string;
  fromText: (text: string) => Entry;
}

/**
 * A folder with one file for each entry. A file is complete as soon as it has its name, and survives the end of the process
 * and of the machine. Only its owner may read it. Its first line is the SHA-256 of the second.
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
   * Returns undefined if there is no such file, such as after another process with the same DATA_DIR has written its entry.
   * @throws Error if the file was damaged.
   */
  async read(id: string): Promise<Entry | undefined> {
    const content = await orIfMissing(undefined, readFile(this.pathOf(`${id}.json`), 'utf8'));
    if (content === undefined) return undefined;
    const [digest, text = ''] = content.split('\n');
    if (digest !== digestOf(text)) throw new Error('the file is damaged');
    return this.form.fromText(text);
  }

  /** Removes files that a process left unfinished. */
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

/** Resolves to another value if the file or folder does not exist. */
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
