import { Decimal } from 'decimal.js';
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { NewOutcome, NewTry, UpstreamItem } from './records';

/** An outcome as JSON: bytes as base64, times and decimals as text. */
type Stored = Omit<NewOutcome, 'body' | 'items' | 'sentAt' | 'answeredAt' | 'tries'> & {
  body: string | null;
  items: (Omit<UpstreamItem, 'amountUsd' | 'feeUsd'> & { amountUsd: string | null; feeUsd: string | null })[];
  sentAt: string;
  answeredAt: string;
  tries: (Omit<NewTry, 'startedAt'> & { startedAt: string })[];
};

/** The name of a file is the ID of its call. */
const FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/;

const PARTIAL = '.partial';

export const spoolFolder = (dataDir: string) => join(dataDir, 'outcomes');

/** Another process with the same DATA_DIR may still write a younger file. */
const UNFINISHED_MS = 60_000;

/**
 * A folder with one file for each outcome. A file is complete as soon as it has its name, and survives the end of the
 * process and of the machine. Only its owner may read it. Its first line is the SHA-256 of the second.
 */
export class OutcomeSpool {
  constructor(private readonly folder: string) {}

  /** Resolves once the outcome is on disk. */
  async keep(outcome: NewOutcome): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const text = JSON.stringify({ ...outcome, body: outcome.body?.toString('base64') ?? null });
    const partial = this.pathOf(`${outcome.intentId}${PARTIAL}`);
    await rm(partial, { force: true });
    await written(partial, `${digestOf(text)}\n${text}\n`);
    await rename(partial, this.pathOf(`${outcome.intentId}.json`));
    await synced(this.folder);
  }

  /** Returns the IDs of the calls whose outcomes are kept. */
  async ids(): Promise<string[]> {
    return (await this.names()).flatMap((name) => FILE.exec(name)?.[1] ?? []).sort();
  }

  /**
   * Returns undefined if there is no such file, such as after another process with the same DATA_DIR has written its outcome.
   * @throws Error if the file was damaged.
   */
  async read(id: string): Promise<NewOutcome | undefined> {
    const content = await orIfMissing(undefined, readFile(this.pathOf(`${id}.json`), 'utf8'));
    if (content === undefined) return undefined;
    const [digest, text = ''] = content.split('\n');
    if (digest !== digestOf(text)) throw new Error('the file is damaged');
    return toOutcome(JSON.parse(text) as Stored);
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

function toOutcome(stored: Stored): NewOutcome {
  return {
    ...stored,
    body: stored.body === null ? null : Buffer.from(stored.body, 'base64'),
    items: stored.items.map((item) => ({ ...item, amountUsd: usdOf(item.amountUsd), feeUsd: usdOf(item.feeUsd) })),
    sentAt: new Date(stored.sentAt),
    answeredAt: new Date(stored.answeredAt),
    tries: stored.tries.map((one) => ({ ...one, startedAt: new Date(one.startedAt) })),
  };
}

function usdOf(text: string | null): Decimal | null {
  return text === null ? null : new Decimal(text);
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
