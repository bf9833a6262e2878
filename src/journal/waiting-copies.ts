/** The size at which a block is complete, in characters. Text that waits longer survives collections and is costly. */
const BLOCK_LENGTH = 1_024 * 1_024;

/** The most that waits, in bytes. */
const MOST_BYTES = 64 * 1_024 * 1_024;

/** Complete lines as the bytes of a file. */
interface Block {
  bytes: Buffer;
  lines: number;
}

/**
 * Lines that wait to be written to a file, in blocks. While the disk takes nothing, or takes less than arrives, the
 * oldest blocks are dropped, so that the memory of the process stays bounded.
 */
export class WaitingCopies {
  private lines: string[] = [];
  private length = 0;
  /** The oldest first. */
  private readonly blocks: Block[] = [];
  /** The block that is being written, until it is on disk. It is never dropped. */
  private taken: Block | undefined;
  private heldBytes = 0;

  /** @param onDrop receives the number of lines that were dropped. */
  constructor(private readonly onDrop: (lines: number) => void) {}

  /** The bytes of all blocks. Lines that form the next block are not counted. They are a second old at most. */
  get bytes(): number {
    return this.heldBytes;
  }

  /** Adds a line. Returns whether it completed a block, which can then be taken. */
  add(line: string): boolean {
    this.lines.push(line);
    this.length += line.length;
    if (this.length < BLOCK_LENGTH) return false;
    this.complete();
    return true;
  }

  /** Makes a block of the lines so far, so that it can be taken. */
  complete(): void {
    if (this.lines.length === 0) return;
    const bytes = Buffer.from(`${this.lines.join('\n')}\n`);
    this.heldBytes += bytes.length;
    this.append({ bytes, lines: this.lines.length });
    this.lines = [];
    this.length = 0;
    this.dropOldest();
  }

  /** Returns the oldest block. The same block is returned again until it is on disk. */
  take(): Buffer | undefined {
    this.taken ??= this.blocks.shift();
    return this.taken?.bytes;
  }

  /** The block that was taken is on disk. */
  release(): void {
    this.heldBytes -= this.taken?.bytes.length ?? 0;
    this.taken = undefined;
  }

  /** Small blocks that wait become one. Otherwise a quiet night with a full disk would leave one for each second. */
  private append(block: Block): void {
    const last = this.blocks.at(-1);
    if (last && last.bytes.length + block.bytes.length <= BLOCK_LENGTH) {
      last.bytes = Buffer.concat([last.bytes, block.bytes]);
      last.lines += block.lines;
    } else this.blocks.push(block);
  }

  private dropOldest(): void {
    let dropped = 0;
    while (this.heldBytes > MOST_BYTES && this.blocks.length > 0) {
      const { bytes, lines } = this.blocks.shift() as Block;
      this.heldBytes -= bytes.length;
      dropped += lines;
    }
    if (dropped > 0) this.onDrop(dropped);
  }
}
