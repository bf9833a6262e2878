import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { ZONE_ERROR_MS } from '../../operations/lifecycle/upstream-clock';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { BY_ITSELF } from './source-read';
import { SourcesService } from './sources.service';
import { isWithin } from './transaction-writer';

/** Cache size, at about 60 bytes per entry. Evicted transactions are processed again. */
const MAX_CACHED = 2_000_000;

/**
 * The last content of each transaction of an account that the book has. It lets a reading keep only new and
 * changed transactions, because the upstream always lists all of them.
 */
class ContentCache {
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

/** Transactions per poll that are kept because they are new. The next poll processes the rest. */
const MOST_NEWS = 50_000;

const DAY_MS = 86_400_000;

/** Reads listings, and remembers the transactions that this worker has entered in the book. */
@Injectable()
export class ListingsService {
  /** A restart empties them. */
  private readonly caches = new Map<string, ContentCache>();
  /** Epoch of the database that the caches belong to. */
  private epoch: number | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Reads the listing of an account. It keeps all transactions since a time, and those of the day before that
   * are new or changed, because the upstream's clock may be behind.
   * @param since null keeps only the new and changed ones of FOLLOW_UP_DAYS.
   * @returns the reading, and `remember`, to call once its transactions are in the book.
   */
  async read(account: string, since: Date | null, signal: AbortSignal) {
    const seen = await this.seenOf(account);
    const now = clock.nowMs();
    const newsFrom = new Date(
      since === null ? now - this.settings.followUpDays * DAY_MS : since.getTime() - ZONE_ERROR_MS,
    );
    const window = { from: since ?? newsFrom, to: new Date(now + ZONE_ERROR_MS) };
    const news: Transaction[] = [];
    const keeps = (transaction: Transaction) => {
      const { issuedAt } = transaction;
      if (since !== null && isWithin(window, issuedAt)) return true;
      if ((issuedAt && issuedAt < newsFrom) || news.length >= MOST_NEWS || seen.has(transaction))
        return false;
      news.push(transaction);
      return true;
    };
    const source = since === null ? 'changes' : 'transactions';
    const options = { signal, source, keeps } as const;
    const read = await this.sources.transactions(account, BY_ITSELF, window, options);
    const remember = () => news.forEach((transaction) => seen.add(transaction));
    return { ...read, from: newsFrom, news: news.length, remember };
  }

  /** Returns the cache of an account. Empty after a recovery: an older database lacks their settlements. */
  private async seenOf(account: string): Promise<ContentCache> {
    const [row] = await this.prisma.$queryRaw<[{ epoch: number }]>`SELECT max(number) AS epoch FROM epoch`;
    if (row.epoch !== this.epoch) this.caches.clear();
    this.epoch = row.epoch;
    const cache = this.caches.get(account) ?? new ContentCache();
    this.caches.set(account, cache);
    return cache;
  }
}
