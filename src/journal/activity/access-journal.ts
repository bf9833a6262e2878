import { join } from 'node:path';
import { Inject, Injectable, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Spool, SpoolWriter } from '../../continuity/spool/spool';
import { MetricsService } from '../../http/metrics/metrics.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { causeOf } from '../../platform/database/pools/unavailable';
import { commitment, hex, newSalt } from '../../platform/privacy/commitment';
import { StorageService } from '../../platform/storage/storage.service';
import { canonical } from '../../policy/content';
import { insertion } from '../records/document-sql';

/**
 * Records reads of the history. While the database takes no writes, accesses are kept in DATA_DIR/accesses
 * and DATA_DIR/access-ends. This process writes them once the database is back, or at its next start. The
 * files name people and are readable by their owner only.
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
   * Resolves once the access is recorded, or kept on disk for later. Nothing may be shown earlier.
   * @throws Error if neither the database nor the disk takes it.
   */
  async begin(access: NewAccess): Promise<void> {
    await this.record(
      () => insertAccess(this.prisma, access),
      () => this.accesses.keep(access.id, { ...access, readAt: clock.now().toISOString() }),
    );
  }

  /**
   * Records the end of an access of unknown length.
   * @throws Error if neither the database nor the disk takes it.
   */
  async end(end: NewAccessEnd): Promise<void> {
    await this.record(
      () => insertAccessEnd(this.prisma, end),
      () => this.ends.keep(end.accessId, { ...end, endedAt: clock.now().toISOString() }),
    );
  }

  /** Writes the kept accesses and ends. */
  private async write(insert: () => Promise<void>): Promise<boolean> {
    if (this.isDatabaseFull) return false;
    await insert();
    return true;
  }

  /** Leaves scarce space, in the database and in DATA_DIR, to outcomes. */
  private async record(insert: () => Promise<void>, keep: () => Promise<void>): Promise<void> {
    if (this.isDatabaseFull) return keep();
    try {
      await insert();
    } catch (error) {
      const isDataDirFine = this.storage.failures.every(({ place }) => place !== 'data_dir');
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

/** A read of the history that is about to begin. */
interface NewAccess {
  /** The call ID of the reading request. The command line uses a UUIDv7 of its own. */
  id: string;
  /** Null for the command line. */
  caller: { clientId: string; keyId: string } | null;
  actor: string | null;
  /** The route, or the command: `audit erase`. */
  route: string;
  callId: string | null;
  callIds: string[];
  /** The filters, as sent. */
  filters: object;
  /** The filters with masked contacts. They are kept forever. */
  maskedFilters: object;
  revealed: boolean;
  /** Null if unknown when the read begins. */
  rows: number | null;
  requestId: string | null;
  clientAddress: string | null;
  /** Start time as JSON has it. Omitted if it is now. */
  readAt?: string;
}

/** The end of a read of unknown length. */
interface NewAccessEnd {
  accessId: string;
  complete: boolean;
  rows: number;
  /** SHA-256 of the sent bytes, without the manifest. */
  sha256: Buffer | null;
  /** The size at the checkpoint in the manifest. */
  checkpointSize: number | null;
  /** End time as JSON has it. Omitted if it is now. */
  endedAt?: string;
}

/**
 * Writes an access unless it exists. Nothing may be shown before. If masking hides a searched person, stores
 * the original filters in an erasable row of their own.
 */
async function insertAccess(prisma: PrismaService, access: NewAccess): Promise<void> {
  const [plain, masked] = [canonical(access.filters), canonical(access.maskedFilters)];
  const salt = plain === masked ? null : newSalt();
  const record = insertion('access', [
    {
      id: access.id,
      client_id: access.caller?.clientId,
      key_id: access.caller?.keyId,
      actor: access.actor,
      route: access.route,
      call_id: access.callId,
      call_ids: access.callIds,
      filters: access.maskedFilters,
      filters_commitment: salt && hex(commitment(salt, plain)),
      revealed: access.revealed,
      rows: access.rows,
      request_id: access.requestId,
      client_address: access.clientAddress,
      ...(access.readAt !== undefined && { read_at: access.readAt }),
    },
  ]);
  const people = salt && [{ access_id: access.id, salt: hex(salt), filters: hex(Buffer.from(plain)) }];
  const once = Prisma.sql`${record} ON CONFLICT DO NOTHING`;
  await prisma.$executeRaw(
    people
      ? Prisma.sql`WITH record AS (${once}) ${insertion('access_filters', people)} ON CONFLICT DO NOTHING`
      : once,
  );
}

/** Writes the end of an access unless it exists. */
async function insertAccessEnd(prisma: PrismaService, end: NewAccessEnd): Promise<void> {
  const { accessId, complete, rows, sha256, checkpointSize, endedAt = null } = end;
  await prisma.$executeRaw`
    INSERT INTO access_end (access_id, complete, rows, sha256, checkpoint_size, ended_at)
    VALUES (${accessId}::uuid, ${complete}, ${rows}, ${sha256}, ${checkpointSize},
      coalesce(${endedAt}::timestamptz, clock_timestamp()))
    ON CONFLICT DO NOTHING`;
}
