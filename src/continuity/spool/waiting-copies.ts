/** The size of a block. Larger ones hold a single line that is longer. */
const BLOCK_BYTES = 1_024 * 1_024;

/** The most that waits. */
const MOST_BYTES = 64 * 1_024 * 1_024;

/** The most blocks that are written with one flush of the disk. As many are kept for later lines. */
const BLOCKS_AT_ONCE = 8;

/** The most bytes of UTF-8 for a unit of JavaScript's text. */
const MOST_BYTES_PER_UNIT = 3;

const NEW_LINE = 0x0a;

/** Complete lines as the bytes of a file. */
interface Block {
  buffer: Buffer;
  /** The bytes in use. */
  length: number;
  lines: number;
}

/**
 * Lines that wait to be written to a file, in blocks. While the disk takes nothing, or takes less than arrives, the
 * oldest blocks are dropped, so that the memory of the process stays bounded. Lines wait as bytes in buffers that are
 * used again: as text, they would survive collections, which is costly.
 */
export class WaitingCopies {
  /** The oldest first. Only the last one grows. */
  private blocks: Block[] = [];
  /** The blocks that are being written. They are neither dropped nor extended meanwhile. */
  private taken: Block[] = [];
  private spare: Buffer[] = [];
  /** The bytes of all lines that wait or are being written. */
  bytes = 0;

  /** @param onDrop receives the number of lines that were dropped. */
  constructor(private readonly onDrop: (lines: number) => void) {}

  add(line: string): void {
    const last = this.blocks.at(-1);
    const fits = last && last.length + line.length * MOST_BYTES_PER_UNIT < last.buffer.length;
    const block = fits ? last : this.begin(line);
    const end = block.buffer.writeUInt8(NEW_LINE, block.length + block.buffer.write(line, block.length));
    this.bytes += end - block.length;
    block.length = end;
    block.lines += 1;
    this.dropOldest();
  }

  /** Returns the oldest lines, to be written in their order. Each `take` is followed by `written` or `notWritten`. */
  take(): Buffer[] {
    this.taken = this.blocks.splice(0, BLOCKS_AT_ONCE);
    return this.taken.map(({ buffer, length }) => buffer.subarray(0, length));
  }

  /** What was taken is on disk. */
  written(): void {
    for (const block of this.taken) this.discard(block);
    this.taken = [];
  }

  /** What was taken waits again. */
  notWritten(): void {
    const [first, ...others] = [...this.taken, ...this.blocks];
    this.taken = [];
    this.blocks = first ? [first] : [];
    for (const block of others) this.append(block);
    this.dropOldest();
  }

  private begin(line: string): Block {
    const isLong = line.length * MOST_BYTES_PER_UNIT >= BLOCK_BYTES;
    const buffer = isLong
      ? Buffer.allocUnsafeSlow(Buffer.byteLength(line) + 1)
      : (this.spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES));
    const block = { buffer, length: 0, lines: 0 };
    this.blocks.push(block);
    return block;
  }

  /** Small blocks become one. Otherwise a quiet night with a full disk would leave one for each second. */
  private append(block: Block): void {
    const last = this.blocks.at(-1);
    if (!last || last.length + block.length > last.buffer.length) return void this.blocks.push(block);
    block.buffer.copy(last.buffer, last.length, 0, block.length);
    last.length += block.length;
    last.lines += block.lines;
    this.keep(block.buffer);
  }

  private dropOldest(): void {
    let dropped = 0;
    while (this.bytes > MOST_BYTES && this.blocks.length > 1) {
      const block = this.blocks.shift()!;
      this.discard(block);
      dropped += block.lines;
    }
    if (dropped > 0) this.onDrop(dropped);
  }

  private discard({ buffer, length }: Block): void {
    this.bytes -= length;
    this.keep(buffer);
  }

  private keep(buffer: Buffer): void {
    if (buffer.length === BLOCK_BYTES && this.spare.length < BLOCKS_AT_ONCE) this.spare.push(buffer);
  }
}
