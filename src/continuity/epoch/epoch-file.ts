import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartError } from '../../platform/config/config';
import { isUuid } from '../../platform/database/uuid';

/** What an instance knows the database to contain. */
export interface Seen {
  /** The instance: a random UUID of this DATA_DIR, kept across restarts. */
  instance: string;
  /** The epoch of the database (table `epoch`). */
  epoch: number;
  /** The number of the last heartbeat that the database has confirmed. */
  beat: string;
  /** Calls whose admission was committed after that heartbeat was sent, one for each batch. */
  admitted: string[];
  /** The same for outcomes. */
  answered: string[];
  /** The same for approvals. */
  approved: string[];
  /** The number of sealed leaves. */
  sealed_size: number;
  system_identifier: string;
  timeline: number;
  /** When this was seen, by the database's clock. ISO 8601. */
  seen_at: string;
}

/** The file in a DATA_DIR. */
export const epochFileIn = (dataDir: string) => join(dataDir, 'epoch.json');

/** The rule for each member of the file. */
const RULES: Record<keyof Seen, (value: unknown) => boolean> = {
  instance: isId,
  epoch: isCount,
  beat: (value) => typeof value === 'string' && /^\d{1,19}$/.test(value),
  admitted: areIds,
  answered: areIds,
  approved: areIds,
  sealed_size: isCount,
  system_identifier: (value) => typeof value === 'string',
  timeline: isCount,
  seen_at: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
};

/**
 * The file in DATA_DIR that keeps what was seen. It is outside the database, so that a database that comes back from the
 * past cannot take it along. Only its owner may read it.
 */
export class EpochFile {
  private readonly partial: string;

  constructor(private readonly path: string) {
    this.partial = `${path}.partial`;
  }

  /**
   * Returns what was seen. Undefined if nothing was.
   * @throws StartError if the file is damaged. Without it, an old database would go unnoticed.
   */
  read(): Seen | undefined {
    if (!existsSync(this.path)) return undefined;
    const seen = parse(readFileSync(this.path, 'utf8'));
    const damaged = Object.entries(RULES).filter(([name, isValid]) => !isValid(seen?.[name]));
    if (damaged.length === 0) return seen as unknown as Seen;
    throw new StartError(
      `${this.path} is damaged (${damaged.map(([name]) => name).join(', ')}). It says how new the database must be. Check that the database is not older than it was, then delete the file and start again.`,
    );
  }

  /** Replaces the file. Resolves once it is on disk. */
  async write(seen: Seen): Promise<void> {
    const folder = dirname(this.path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rm(this.partial, { force: true }); // an earlier file may have other permissions
    const file = await open(this.partial, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(seen, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(this.partial, this.path);
    const entries = await open(folder, 'r');
    try {
      await entries.sync(); // otherwise a power failure may undo the renaming
    } finally {
      await entries.close();
    }
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && isUuid(value);
}

function areIds(value: unknown): boolean {
  return Array.isArray(value) && value.every(isId);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
