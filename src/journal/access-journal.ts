import { Inject, Injectable, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { join } from 'node:path';
import { MetricsService } from '../http/metrics/metrics.service';
import { clock } from '../platform/database/clock';
import { SidePrisma } from '../platform/database/side-prisma';
import { causeOf } from '../platform/database/unavailable';
import { StorageService } from '../platform/storage/storage.service';
import { insertAccess, insertAccessEnd, NewAccess, NewAccessEnd } from './accesses';
import { Spool } from './spool';
import { SpoolWriter } from './spool-writer';
import { RunningConfig, SETTINGS } from '../platform/config/config';

/**
 * Records who reads the history. While the database answers reads and takes no writes, accesses are kept in
 * DATA_DIR/accesses and DATA_DIR/access-ends, and are written once the database takes them: by this process, or at its next
 * start. The files name people, and only their owner may read them.
 */
@Injectable()
export class AccessJournal implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly accesses: SpoolWriter<NewAccess>;
  private readonly ends: SpoolWriter<NewAccessEnd>;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly storage: StorageService,
    metrics: MetricsService,
    @Inject(SETTINGS) { dataDir }: RunningConfig,
  ) {
    this.accesses = new SpoolWriter({
      spool: new Spool(join(dataDir, 'accesses'), {
        idOf: ({ id }) => id,
        toText: (access) => JSON.stringify(access),
        fromText: (text) => JSON.parse(text) as NewAccess,
      }),
      name: 'access',
      storage,
      write: (access) => this.write(() => insertAccess(prisma, access)),
    });
    this.ends = new SpoolWriter({
      spool: new Spool(join(dataDir, 'access-ends'), {
        idOf: ({ accessId }) => accessId,
        toText: (end) => JSON.stringify({ ...end, sha256: end.sha256?.toString('hex') ?? null }),
        fromText: (text) => toEnd(JSON.parse(text) as StoredEnd),
      }),
      name: 'end of an access',
      storage,
      write: (end) => this.write(() => insertAccessEnd(prisma, end)),
    });
    metrics.watch(
      'payout_proxy_spooled_accesses',
      'Accesses to the history on the disk of this instance that are not yet recorded in the database.',
      () => this.accesses.size + this.ends.size,
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    await Promise.all([this.accesses.start(), this.ends.start()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.accesses.stop(), this.ends.stop()]);
  }

  /**
   * Resolves once the access is recorded, or kept on disk until it is. Nothing may be shown earlier.
   * @throws Error if it can be kept nowhere.
   */
  async begin(access: NewAccess): Promise<void> {
    await this.record(
      () => insertAccess(this.prisma, access),
      () => this.accesses.keep(access.id, { ...access, readAt: clock.now().toISOString() }),
    );
  }

  /**
   * Records how an access of unknown length ended.
   * @throws as above.
   */
  async end(end: NewAccessEnd): Promise<void> {
    await this.record(
      () => insertAccessEnd(this.prisma, end),
      () => this.ends.keep(end.accessId, { ...end, endedAt: clock.now().toISOString() }),
    );
  }

  /** Writes what was kept. */
  private async write(insert: () => Promise<void>): Promise<boolean> {
    if (this.isDatabaseFull) return false;
    await insert();
    return true;
  }

  /** Space that runs low is left to outcomes, in the database and in DATA_DIR. */
  private async record(insert: () => Promise<void>, keep: () => Promise<void>): Promise<void> {
    if (this.isDatabaseFull) return keep();
    try {
      await insert();
    } catch (error) {
      const isDataDirFine = this.storage.troubles.every(({ place }) => place !== 'data_dir');
      if (causeOf(error) === undefined || !isDataDirFine) throw error;
      await keep().catch(() => {
        throw error;
      });
    }
  }

  private get isDatabaseFull(): boolean {
    return this.storage.has('database', 'disk_full');
  }
}

type StoredEnd = Omit<NewAccessEnd, 'sha256'> & { sha256: string | null };

function toEnd(stored: StoredEnd): NewAccessEnd {
  return { ...stored, sha256: stored.sha256 === null ? null : Buffer.from(stored.sha256, 'hex') };
}
