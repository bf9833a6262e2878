import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

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
