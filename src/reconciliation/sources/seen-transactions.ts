import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { PrismaService } from '../../platform/database/pools/prisma.service';

/** Cache size, at about 60 bytes per entry. Evicted transactions are processed again. */
const MAX_CACHED = 2_000_000;

/**
 * The last content of each transaction of an account that the book has. It lets a reading keep only new and
 * changed transactions, because the upstream always lists all of them.
 */
export class ContentCache {
  private readonly contents = new Map<number, number>();

  /** Returns whether a transaction is unchanged. False for a transaction without a name. */
  has(transaction: Transaction): boolean {
    const name = nameOf(transaction);
    return name !== undefined && this.contents.get(name) === contentOf(transaction);
  }

  add(transaction: Transaction): void {
    const name = nameOf(transaction);
    if (name === undefined) return;
    this.contents.delete(name); // Moves it to the end.
    this.contents.set(name, contentOf(transaction));
    if (this.contents.size <= MAX_CACHED) return;
    for (const oldest of this.contents.keys()) {
      this.contents.delete(oldest);
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

/**
 * Returns 48 bits of a hash. Among a million names, the probability of a collision is 1 in 560. A collision
 * skips one transaction while the other is unchanged.
 */
function numberOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

/** The transactions that this worker has entered in the book. A restart empties it. */
@Injectable()
export class SeenTransactions {
  private readonly caches = new Map<string, ContentCache>();
  /** Epoch of the database that the caches belong to. */
  private epoch: number | undefined;

  constructor(private readonly prisma: PrismaService) {}

  /** Returns those of an account. Empty after a recovery: an older database lacks their settlements. */
  async of(account: string): Promise<ContentCache> {
    const [row] = await this.prisma.$queryRaw<[{ epoch: number }]>`SELECT max(number) AS epoch FROM epoch`;
    if (row.epoch !== this.epoch) this.caches.clear();
    this.epoch = row.epoch;
    const cache = this.caches.get(account) ?? new ContentCache();
    this.caches.set(account, cache);
    return cache;
  }
}
