import { hash } from 'node:crypto';
import { Transaction } from '../../gateway/upstream/transactions';

/** Some 60 bytes each. Beyond that, what was remembered first is forgotten, and looked at again. */
const MOST = 2_000_000;

/**
 * What the upstream said about its transactions when they were last looked at. It lets a poll skip those that have not
 * changed, because the upstream lists everything each time. It is lost with the process and when the database is
 * recovered, which costs one longer poll.
 */
export class Remembered {
  private readonly said = new Map<number, number>();

  /** Whether a transaction says what it said before. One without a name is never known. */
  has(transaction: Transaction): boolean {
    const name = nameOf(transaction);
    return name !== undefined && this.said.get(name) === contentOf(transaction);
  }

  add(transaction: Transaction): void {
    const name = nameOf(transaction);
    if (name === undefined) return;
    this.said.delete(name); // so that it comes last
    this.said.set(name, contentOf(transaction));
    if (this.said.size <= MOST) return;
    for (const oldest of this.said.keys()) {
      this.said.delete(oldest);
      return;
    }
  }
}

function nameOf({ upstreamRef, upstreamId }: Transaction): number | undefined {
  const name = upstreamRef ?? upstreamId;
  return name === null ? undefined : numberOf(name);
}

function contentOf({ status, feeUsd, amountUsd }: Transaction): number {
  return numberOf(JSON.stringify([status, feeUsd, amountUsd]));
}

/** Returns 48 bits of a hash. Of a million names, two are equal with a probability of 1 in 560. Then one is skipped for as long as the other stays. */
function numberOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}
