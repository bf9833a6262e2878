import { existsSync } from 'node:fs';
import { appendFile, open, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../platform/config/folder';
import { Head, readHead } from './head';
import { KeyRing } from './key-ring';
import { splitNotes } from './note';

/** Holds about 200 notes of about 300 bytes. */
const TAIL_BYTES = 65_536;

/**
 * The witness's copy of the checkpoints, outside the database. Someone who removes the newest records with their seals
 * cannot remove the checkpoints in this file. The file has one note after another, each followed by a blank line.
 */
export class CheckpointFile {
  private constructor(
    private readonly path: string,
    /** The newest checkpoint in the file. Undefined if the file is new. */
    public last: Head | undefined,
  ) {}

  /** @throws Error if the file cannot be read, or its end is signed by none of the keys. */
  static async open(path: string, ring: KeyRing): Promise<CheckpointFile> {
    if (!existsSync(path)) {
      makeFolder(dirname(path));
      return new CheckpointFile(path, undefined);
    }
    const { text, start } = await tailOf(path);
    const whole = text.slice(0, endOfNotes(text));
    if (whole.length < text.length) await truncate(path, start + Buffer.byteLength(whole)); // a crash cut off the last note
    return new CheckpointFile(path, largestIn(whole, start, ring));
  }

  /** Returns the largest checkpoint, and changes nothing. Undefined without a file. @throws Error, as above. */
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

/** @param start where the text begins in the file. It may begin in the middle of a note, which is skipped. */
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
    const wanted = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await file.read(wanted, 0, wanted.length, size - wanted.length);
    // Starts at the first whole note. A character that is cut in two would decode to another length.
    const from = size > wanted.length ? wanted.indexOf('\n\n') : 0;
    return {
      text: wanted.subarray(Math.max(from, 0)).toString('utf8'),
      start: size - wanted.length + Math.max(from, 0),
    };
  } finally {
    await file.close();
  }
}
