import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Logger } from '@nestjs/common';
import { StartError } from '../../platform/config/config';
import { isUuid } from '../../platform/database/uuid';
import { codeOf } from '../../platform/errors/error-code';

/** The known contents of the database: the evidence of an instance. */
export interface LastEpoch {
  /** The instance: a random UUID of this DATA_DIR, kept across restarts. */
  instance: string;
  /** The epoch of the database (table `epoch`). */
  epoch: number;
  /** The number of the last heartbeat that the database has confirmed. */
  beat: string;
  /** Calls admitted in commits after that heartbeat was sent, one per batch. */
  admitted: string[];
  /** Calls with outcomes in such commits, one per batch. */
  answered: string[];
  /** Calls approved in such commits. */
  approved: string[];
  /** The number of sealed leaves. */
  sealed_size: number;
  system_identifier: string;
  timeline: number;
  /** Time of this evidence by the database's clock, in ISO 8601. */
  seen_at: string;
}

/** The file in a DATA_DIR. */
export const epochFileIn = (dataDir: string) => join(dataDir, 'epoch.json');

/** The rule for each member of the file. */
const RULES: Record<keyof LastEpoch, (value: unknown) => boolean> = {
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
 * The file in DATA_DIR with the evidence. A database that is restored from the past cannot take it along.
 * Readable by its owner only.
 */
export class EpochFile {
  private readonly logger = new Logger('Epoch');
  private readonly partial: string;
  private unwritten: LastEpoch | undefined;
  private writing: Promise<void> | undefined;
  /** Whether the last write failed. */
  isFailing = false;

  constructor(private readonly path: string) {
    this.partial = `${path}.partial`;
  }

  /**
   * Returns the evidence. Undefined without a file.
   * @throws StartError if the file is damaged. Without it, an old database would go unnoticed.
   */
  read(): LastEpoch | undefined {
    if (!existsSync(this.path)) return undefined;
    const seen = parse(readFileSync(this.path, 'utf8'));
    const damaged = Object.entries(RULES).filter(([name, isValid]) => !isValid(seen?.[name]));
    if (damaged.length === 0) return seen as unknown as LastEpoch;
    throw new StartError(
      `${this.path} is damaged (${damaged.map(([name]) => name).join(', ')}). It records how new the ` +
        'database must be. Check that the database is not older than it was, then delete the file and ' +
        'start again.',
    );
  }

  /** Replaces the file in the background. Of several saves during a write, only the last is written. */
  save(evidence: LastEpoch): void {
    this.unwritten = evidence;
    this.writing ??= this.writeNewest().finally(() => (this.writing = undefined));
  }

  /** Resolves once the last save has ended. */
  async settled(): Promise<void> {
    await this.writing;
  }

  /** Never rejects. Without the file, a restart loses the evidence, but this process does not. */
  private async writeNewest(): Promise<void> {
    while (this.unwritten) {
      const evidence = this.unwritten;
      this.unwritten = undefined;
      try {
        await this.write(evidence);
        if (this.isFailing) this.logger.log('epoch.json is written again');
        this.isFailing = false;
      } catch (error) {
        const lost = 'epoch.json cannot be written. After a restart, an old database may go unnoticed';
        if (!this.isFailing) this.logger.warn({ code: codeOf(error) }, lost);
        this.isFailing = true;
      }
    }
  }

  /** Replaces the file. Resolves once it is on disk. */
  async write(evidence: LastEpoch): Promise<void> {
    const folder = dirname(this.path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rm(this.partial, { force: true }); // An earlier file may have other permissions.
    const file = await open(this.partial, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(evidence, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(this.partial, this.path);
    const entries = await open(folder, 'r');
    try {
      await entries.sync(); // Otherwise a power failure may undo the rename.
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
