import { Injectable, Logger } from '@nestjs/common';
import { Cause, StorageLocation, REMEDIES } from './failures';

/** One reason why a place takes no writes, as long as it holds. */
export interface StorageFailure {
  place: StorageLocation;
  cause: Cause;
  /** What was seen, and what an operator can do. Everyone may read it. */
  detail: string;
}

interface ObservedFailure {
  trouble: StorageFailure | undefined;
  /** How often it was seen since the start of the process. */
  count: number;
  /** When it was last seen, by the monotonic clock. */
  at: number;
}

/**
 * Knows whether the database and DATA_DIR take writes, and if not, why. Whoever sees a failure tells it.
 * Whoever sees that it is over lowers it. Both ends are logged, once each, however many requests fail in
 * between.
 */
@Injectable()
export class StorageService {
  private readonly logger = new Logger('Storage');
  private readonly seen = new Map<string, ObservedFailure>();

  /** What holds now, the first one first. */
  get troubles(): StorageFailure[] {
    return [...this.seen.values()].flatMap(({ trouble }) => trouble ?? []);
  }

  /**
   * Why nothing new may be admitted: the outcomes of calls that are sent could fit nowhere. Undefined if
   * nothing is in the way. Other troubles stop nothing by themselves, because each request finds out whether
   * it can be recorded.
   */
  get obstacle(): StorageFailure | undefined {
    return this.troubles.find(({ place, cause }) => place === 'data_dir' || cause === 'disk_full');
  }

  has(place: StorageLocation, cause: Cause): boolean {
    return this.of(place, cause).trouble !== undefined;
  }

  /** Returns how often each trouble was seen. */
  get counts(): { place: StorageLocation; cause: Cause; count: number }[] {
    return [...this.seen].map(([key, { count }]) => {
      const [place, cause] = key.split(' ') as [StorageLocation, Cause];
      return { place, cause, count };
    });
  }

  /**
   * Counts a failure, and raises its trouble.
   * @param code of the error, for the log.
   */
  note(place: StorageLocation, cause: Cause, code?: string): void {
    const seen = this.of(place, cause);
    seen.count += 1;
    seen.at = performance.now();
    if (!seen.trouble) this.raise(place, cause, REMEDIES[place][cause] ?? cause, code);
  }

  /** Raises a trouble that was foreseen and has failed nothing yet, or changes its detail. */
  raise(place: StorageLocation, cause: Cause, detail: string, code?: string): void {
    const seen = this.of(place, cause);
    if (!seen.trouble) this.logger.error({ place, cause, code, detail }, `${NAMES[place]} takes no writes`);
    seen.trouble = { place, cause, detail };
  }

  /** @param quietMs how long it must not have been seen. */
  lower(place: StorageLocation, cause: Cause, quietMs = 0): void {
    const seen = this.of(place, cause);
    if (!seen.trouble || performance.now() - seen.at < quietMs) return;
    seen.trouble = undefined;
    this.logger.warn({ place, cause }, `${NAMES[place]} takes writes again`);
  }

  private of(place: StorageLocation, cause: Cause): ObservedFailure {
    const key = `${place} ${cause}`;
    const seen = this.seen.get(key) ?? { trouble: undefined, count: 0, at: -Infinity };
    this.seen.set(key, seen);
    return seen;
  }
}

const NAMES: Readonly<Record<StorageLocation, string>> = { database: 'the database', data_dir: 'DATA_DIR' };
