import { Injectable, Logger } from '@nestjs/common';
import { Cause, StorageLocation, REMEDIES } from './failures';

/** A current cause of failing writes at a location. */
export interface StorageFailure {
  place: StorageLocation;
  cause: Cause;
  /** The observation and the operator's remedy. Public. */
  detail: string;
}

interface ObservedFailure {
  failure: StorageFailure | undefined;
  /** The number of observations since the start of the process. */
  count: number;
  /** The time of the last observation, by the monotonic clock. */
  at: number;
}

/**
 * Knows whether the database and DATA_DIR take writes, and the causes of failures. Observers of a failure
 * note it, and observers of its end lower it. The begin and the end are logged once each, however many
 * requests fail in between.
 */
@Injectable()
export class StorageService {
  private readonly logger = new Logger('Storage');
  private readonly observations = new Map<string, ObservedFailure>();

  /** The current failures, oldest first. */
  get failures(): StorageFailure[] {
    return [...this.observations.values()].flatMap(({ failure }) => failure ?? []);
  }

  /**
   * The failure that stops admission, because the outcomes of calls might not fit. Undefined if there is
   * none. Other failures stop nothing by themselves: each request finds out whether it can be recorded.
   */
  get obstacle(): StorageFailure | undefined {
    return this.failures.find(({ place, cause }) => place === 'data_dir' || cause === 'disk_full');
  }

  has(place: StorageLocation, cause: Cause): boolean {
    return this.of(place, cause).failure !== undefined;
  }

  /** Returns the number of observations of each failure. */
  get counts(): { place: StorageLocation; cause: Cause; count: number }[] {
    return [...this.observations].map(([key, { count }]) => {
      const [place, cause] = key.split(' ') as [StorageLocation, Cause];
      return { place, cause, count };
    });
  }

  /**
   * Counts an observation, and raises its failure.
   * @param code of the error, for the log.
   */
  note(place: StorageLocation, cause: Cause, code?: string): void {
    const observation = this.of(place, cause);
    observation.count += 1;
    observation.at = performance.now();
    if (!observation.failure) this.raise(place, cause, REMEDIES[place][cause] ?? cause, code);
  }

  /** Raises a failure before it affects a request, or changes its detail. */
  raise(place: StorageLocation, cause: Cause, detail: string, code?: string): void {
    const observation = this.of(place, cause);
    if (!observation.failure)
      this.logger.error({ place, cause, code, detail }, `${NAMES[place]} takes no writes`);
    observation.failure = { place, cause, detail };
  }

  /** @param quietMs the time without an observation. */
  lower(place: StorageLocation, cause: Cause, quietMs = 0): void {
    const observation = this.of(place, cause);
    if (!observation.failure || performance.now() - observation.at < quietMs) return;
    observation.failure = undefined;
    this.logger.warn({ place, cause }, `${NAMES[place]} takes writes again`);
  }

  private of(place: StorageLocation, cause: Cause): ObservedFailure {
    const key = `${place} ${cause}`;
    const observation = this.observations.get(key) ?? { failure: undefined, count: 0, at: -Infinity };
    this.observations.set(key, observation);
    return observation;
  }
}

const NAMES: Readonly<Record<StorageLocation, string>> = { database: 'the database', data_dir: 'DATA_DIR' };
