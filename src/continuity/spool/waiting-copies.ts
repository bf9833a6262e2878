/** Size of a block. A block for a single longer line is larger. */
const BLOCK_BYTES = 1_024 * 1_024;

/** Bound of the buffered bytes. */
const MOST_BYTES = 64 * 1_024 * 1_024;

/** Limit of blocks per flush of the disk. As many are kept for reuse. */
const BLOCKS_AT_ONCE = 8;

/** Longest UTF-8 form of a UTF-16 code unit, in bytes. */
const MOST_BYTES_PER_UNIT = 3;

const NEW_LINE = 0x0a;

/** Complete lines as file bytes. */
interface Block {
  buffer: Buffer;
  /** Used bytes. */
  length: number;
  lines: number;
}

/**
 * Buffers lines for a file, in blocks. While the disk takes none, or fewer than arrive, the oldest blocks are
 * dropped to bound the memory of the process. Lines are kept as bytes in reused buffers: as text, they would
 * survive garbage collections, which is costly.
 */
export class WaitingCopies {
  /** Oldest first. Only the last one grows. */
  private blocks: Block[] = [];
  /** Blocks that are being written. Neither dropped nor extended meanwhile. */
  private taken: Block[] = [];
  private spare: Buffer[] = [];
  /** Bytes of all lines that are buffered or being written. */
  bytes = 0;

  /** @param onDrop receives the number of dropped lines. */
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

  /** Returns the oldest lines to write, in order. Call `written` or `notWritten` after each `take`. */
  take(): Buffer[] {
    this.taken = this.blocks.splice(0, BLOCKS_AT_ONCE);
    return this.taken.map(({ buffer, length }) => buffer.subarray(0, length));
  }

  /** Drops the taken lines, which are on disk. */
  written(): void {
    for (const block of this.taken) this.discard(block);
    this.taken = [];
  }

  /** Returns the taken lines to the buffer. */
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

  /** Merges small blocks. Otherwise a quiet night with a full disk would leave one per second. */
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
