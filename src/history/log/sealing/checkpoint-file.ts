import { existsSync } from 'node:fs';
import { appendFile, open, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { EpochService } from '../../../continuity/fence/epoch.service';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { makeFolder } from '../../../platform/config/folder';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { Head, readHead } from '../head';
import { logRingOf } from '../log-key';
import { KeyRing, splitNotes } from '../note';

/** Size of the end of the file to read, in bytes. It fits about 200 notes. */
const TAIL_BYTES = 65_536;

/**
 * The witness's copy of the checkpoints, outside the database. An attacker who removes the newest records
 * with their seals cannot remove the checkpoints in this file. Each note is followed by a blank line.
 */
export class CheckpointFile {
  private constructor(
    private readonly path: string,
    /** Newest checkpoint in the file. Undefined if the file is new. */
    public last: Head | undefined,
  ) {}

  /** @throws Error if the file cannot be read, or none of the keys signed its end. */
  static async open(path: string, ring: KeyRing): Promise<CheckpointFile> {
    if (!existsSync(path)) {
      makeFolder(dirname(path));
      return new CheckpointFile(path, undefined);
    }
    const { text, start } = await tailOf(path);
    const whole = text.slice(0, endOfNotes(text));
    // A crash cut off the last note.
    if (whole.length < text.length) await truncate(path, start + Buffer.byteLength(whole));
    return new CheckpointFile(path, largestIn(whole, start, ring));
  }

  /**
   * Returns the largest checkpoint, and changes nothing. Undefined without a file.
   * @throws Error, like `open`.
   */
  static async largest(path: string, ring: KeyRing): Promise<Head | undefined> {
    if (!existsSync(path)) return undefined;
    const { text, start } = await tailOf(path);
    return largestIn(text.slice(0, endOfNotes(text)), start, ring);
  }

  /** Appends notes. Resolves once they are on disk. */
  async append(notes: { note: string; head: Head }[]): Promise<void> {
    if (notes.length === 0) return;
    const text = notes.map(({ note }) => `${note}\n`).join('');
    await appendFile(this.path, text, { flush: true });
    this.last = notes.map(({ head }) => head).reduce<Head | undefined>(larger, this.last);
  }
}

/**
 * Returns the largest checkpoint in a text.
 * @param start position of the text in the file. It may begin in the middle of a note, which is skipped.
 */
function largestIn(text: string, start: number, ring: KeyRing): Head | undefined {
  const notes = splitNotes(text).slice(start === 0 ? 0 : 1);
  return notes.map((note) => readHead(note, ring)).reduce<Head | undefined>(larger, undefined);
}

function larger(one: Head | undefined, other: Head): Head {
  return one === undefined || other.size > one.size ? other : one;
}

/** Returns the position after the last signature line and its blank line. */
function endOfNotes(text: string): number {
  const matches = [...text.matchAll(/^\u2014 [^\n]+\n\n/gm)];
  const last = matches.at(-1);
  return last === undefined ? 0 : last.index + last[0].length;
}

async function tailOf(path: string): Promise<{ text: string; start: number }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await file.read(tail, 0, tail.length, size - tail.length);
    // Start at the first whole note. A split character would decode to another length.
    const from = Math.max(size > tail.length ? tail.indexOf('\n\n') : 0, 0);
    return { text: tail.subarray(from).toString('utf8'), start: size - tail.length + from };
  } finally {
    await file.close();
  }
}

interface DatabaseState {
  epoch: number;
  /** Number of sealed leaves. */
  size: number;
  /** Whether the checkpoint precedes the last `database recover`, which shortens the log. */
  isRecovered: boolean;
}

/**
 * Compares the database with the checkpoints outside it. An instance with a new DATA_DIR has no memory, but a
 * checkpoint of leaves that the database lacks shows that the database is outdated.
 */
@Injectable()
export class CheckpointComparison {
  constructor(
    private readonly prisma: PrismaService,
    private readonly epoch: EpochService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /** Compares once. Await it before the first request. */
  async start(): Promise<void> {
    const newest = await this.largest();
    if (!newest) return;
    const [state] = await this.prisma.$queryRaw<[DatabaseState]>`
      SELECT number AS epoch, (SELECT coalesce(max(size), 0)::float8 FROM checkpoint) AS size,
        number > 1 AND started_at > ${newest.sealedAt}::timestamptz AS "isRecovered"
      FROM epoch ORDER BY number DESC LIMIT 1`;
    if (state.size >= newest.size || state.isRecovered) return;
    this.epoch.report(
      `it has ${state.size} sealed leaves, and the newest checkpoint in CHECKPOINT_FILE has ${newest.size}`,
      state.epoch,
    );
  }

  private async largest(): Promise<Head | undefined> {
    const { checkpointFile } = this.settings;
    if (checkpointFile === undefined) return undefined;
    try {
      return await CheckpointFile.largest(checkpointFile, logRingOf(this.settings));
    } catch {
      // The sealer logs the reason.
      new Logger('Epoch').warn('CHECKPOINT_FILE cannot be read, so the database is not compared with it');
      return undefined;
    }
  }
}
