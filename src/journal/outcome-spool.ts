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

  /** Returns the IDs of the calls whose outcomes are kept. Removes files that a process left unfinished. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names.filter((one) => one.endsWith(PARTIAL))) {
      const { mtimeMs } = await stat(this.pathOf(name));
      if (Date.now() - mtimeMs > UNFINISHED_MS) await rm(this.pathOf(name), { force: true });
    }
    return names.flatMap((name) => FILE.exec(name)?.[1] ?? []).sort();
  }

  /** @throws Error if the file was damaged. */
  async read(id: string): Promise<NewOutcome> {
    const [digest, text = ''] = (await readFile(this.pathOf(`${id}.json`), 'utf8')).split('\n');
    if (digest !== digestOf(text)) throw new Error('the file is damaged');
    return toOutcome(JSON.parse(text) as Stored);
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(`${id}.json`), { force: true });
  }

  private pathOf(name: string): string {
    return join(this.folder, name);
  }
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
