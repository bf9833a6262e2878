import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { codeOf } from '../../platform/errors/error-code';
import { CAUSES, causeOfFile, StorageLocation } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';
import { HeartbeatService } from '../heartbeat/heartbeat.service';
import { Reserve } from './reserve';

const EVERY_MS = 1_000;

/** Admission resumes above this share of the floor. The gap prevents flapping. */
const RESUMES_AT = 1.1;

/** Time without a full-disk error before the database counts as having space, in ms. */
const QUIET_MS = 5_000;

/** Written to test whether DATA_DIR takes writes again. Larger than a usual outcome. */
const PROBE = Buffer.alloc(1_048_576);

const MEGABYTE = 1_048_576;

/**
 * Watches the space for outcomes: on the disk of DATA_DIR, where they are spooled, and in the database. When
 * it runs low, nothing new is admitted (StorageService.obstacle), and calls in flight can still be recorded.
 * Admission resumes by itself.
 *
 * The disks of DATA_DIR and of the embedded Postgres are visible. Another server does not report its disk
 * before it is full, so a reserve is kept there (reserve.ts).
 *
 * See docs/internals/decisions/operation/0040-space-for-outcomes.md.
 */
@Injectable()
export class SpaceService implements OnApplicationShutdown {
  private readonly logger = new Logger('Space');
  private readonly reserve: Reserve | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<unknown> | undefined;
  /** Free bytes at the last check. */
  private readonly free = new Map<StorageLocation, number>();

  constructor(
    private readonly storage: StorageService,
    private readonly heartbeat: HeartbeatService,
    prisma: PrismaService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    const { databaseDirectory, databaseReserveBytes } = this.settings;
    if (databaseDirectory === undefined && databaseReserveBytes > 0)
      this.reserve = new Reserve(prisma, storage, databaseReserveBytes);
  }

  /** Checks now, and then every second. */
  async start(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void this.look(), EVERY_MS).unref();
  }

  /** Returns the free bytes of the visible disks. */
  get freeBytes(): { place: StorageLocation; bytes: number }[] {
    return [...this.free].map(([place, bytes]) => ({ place, bytes }));
  }

  /** Bytes of the reserve. Undefined without one, or before the first look at it. */
  get reserveBytes(): number | undefined {
    return this.reserve?.bytes;
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  private look(): Promise<unknown> {
    this.looking ??= Promise.all([this.lookAtDataDir(), this.lookAtDatabase()]).finally(
      () => (this.looking = undefined),
    );
    return this.looking;
  }

  private async lookAtDataDir(): Promise<void> {
    const { dataDir } = this.settings;
    const hasSpace = await this.hasSpace('data_dir', dataDir);
    const isTroubled = this.storage.failures.some(({ place }) => place === 'data_dir');
    if (!hasSpace || !isTroubled || !(await this.takesWrites(dataDir))) return;
    for (const cause of CAUSES) this.storage.lower('data_dir', cause);
  }

  private async lookAtDatabase(): Promise<void> {
    const { databaseDirectory } = this.settings;
    if (this.reserve) return this.reserve.keep();
    const hasSpace = databaseDirectory === undefined || (await this.hasSpace('database', databaseDirectory));
    if (hasSpace && this.heartbeat.age < EVERY_MS * 2) this.storage.lower('database', 'disk_full', QUIET_MS);
  }

  /** Returns whether there is enough space to admit requests. Otherwise raises a failure. */
  private async hasSpace(place: StorageLocation, folder: string): Promise<boolean> {
    const { minFreeBytes } = this.settings;
    const bytes = await freeBytesOf(folder);
    if (bytes === undefined) return true; // The next write there shows the cause.
    this.free.set(place, bytes);
    const isLow = this.storage.has(place, 'disk_full') && bytes < minFreeBytes * RESUMES_AT;
    if (bytes >= minFreeBytes && !isLow) return true;
    const name = place === 'database' ? 'the embedded Postgres' : 'DATA_DIR';
    this.storage.raise(
      place,
      'disk_full',
      `The disk of ${name} has ${Math.floor(bytes / MEGABYTE)} MB left, and MIN_FREE_SPACE_MB is ` +
        `${minFreeBytes / MEGABYTE}. Make space on it. Payments resume by themselves.`,
    );
    return false;
  }

  private async takesWrites(dataDir: string): Promise<boolean> {
    const path = join(dataDir, 'space-probe');
    try {
      const file = await open(path, 'w', 0o600);
      try {
        await file.writeFile(PROBE);
        await file.sync();
      } finally {
        await file.close();
      }
      return true;
    } catch (error) {
      this.logger.debug({ code: codeOf(error), cause: causeOfFile(error) }, 'DATA_DIR still takes no writes');
      return codeOf(error) === 'ENOENT'; // Nothing has been kept there yet.
    } finally {
      await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

/** Returns the free bytes on the disk of a folder, which may not exist yet. Undefined if unreadable. */
async function freeBytesOf(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT' && dirname(folder) !== folder;
    return isMissing ? freeBytesOf(dirname(folder)) : undefined;
  }
}
