/** The size of a block. Larger ones hold a single line that is longer. */
const BLOCK_BYTES = 1_024 * 1_024;

/** The most that waits. */
const MOST_BYTES = 64 * 1_024 * 1_024;

/** The most that is written with one flush of the disk. */
const BLOCKS_AT_ONCE = 8;

/** The most bytes of UTF-8 for a unit of JavaScript's text. */
const MOST_BYTES_PER_UNIT = 3;

const NEW_LINE = 0x0a;

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
  /** Holds the block that grows. As text, lines that wait would survive collections, which is costly. */
  private chunk = Buffer.alloc(0);
  /** Where the block that grows begins and ends in the chunk. */
  private start = 0;
  private end = 0;
  private lines = 0;
  /** The oldest first. */
  private blocks: Block[] = [];
  /** The blocks that are being written. They are not dropped meanwhile. */
  private taken: Block[] = [];
  private heldBytes = 0;

  /** @param onDrop receives the number of lines that were dropped. */
  constructor(private readonly onDrop: (lines: number) => void) {}

  /** The bytes of all lines that wait. */
  get bytes(): number {
    return this.heldBytes + this.end - this.start;
  }

  add(line: string): void {
    if (this.end + line.length * MOST_BYTES_PER_UNIT >= this.chunk.length) {
      this.complete();
      this.chunk = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, Buffer.byteLength(line) + 1));
      this.start = this.end = 0;
    }
    this.end += this.chunk.write(line, this.end);
    this.end = this.chunk.writeUInt8(NEW_LINE, this.end);
    this.lines += 1;
  }

  /** Makes a block of the lines so far, so that it can be taken. */
  complete(): void {
    if (this.lines === 0) return;
    const bytes = this.chunk.subarray(this.start, this.end);
    this.start = this.end;
    this.heldBytes += bytes.length;
    this.append({ bytes, lines: this.lines });
    this.lines = 0;
    this.dropOldest();
  }

  /** Returns the oldest blocks, to be written in their order. Each `take` is followed by `written` or `notWritten`. */
  take(): Buffer[] {
    this.taken = this.blocks.splice(0, BLOCKS_AT_ONCE);
    return this.taken.map(({ bytes }) => bytes);
  }

  /** What was taken is on disk. */
  written(): void {
    for (const { bytes } of this.taken) this.heldBytes -= bytes.length;
    this.taken = [];
  }

  /** What was taken waits again. */
  notWritten(): void {
    this.blocks = [...this.taken, ...this.blocks];
    this.taken = [];
    this.dropOldest();
  }

  /** Small blocks that wait become one. Otherwise a quiet night with a full disk would leave one for each second. */
  private append(block: Block): void {
    const last = this.blocks.at(-1);
    if (last && last.bytes.length + block.bytes.length <= BLOCK_BYTES) {
      last.bytes = Buffer.concat([last.bytes, block.bytes]);
      last.lines += block.lines;
    } else this.blocks.push(block);
  }

  /** Leaves room for the next block. */
  private dropOldest(): void {
    let dropped = 0;
    while (this.heldBytes > MOST_BYTES - BLOCK_BYTES && this.blocks.length > 0) {
      const { bytes, lines } = this.blocks.shift() as Block;
      this.heldBytes -= bytes.length;
      dropped += lines;
    }
    if (dropped > 0) this.onDrop(dropped);
  }
}
