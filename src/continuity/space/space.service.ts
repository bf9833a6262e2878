import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { CAUSES, causeOfFile, Place } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';
import { codeOf } from '../../platform/errors/error-code';
import { HeartbeatService } from '../heartbeat/heartbeat.service';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Reserve } from './reserve';

const EVERY_MS = 1_000;

/** Admission resumes above this share of the floor, so that it does not go on and off. */
const RESUMES_AT = 1.1;

/** How long a database must not have said that its disk is full, before it is believed to have space. */
const QUIET_MS = 5_000;

/** What is written to find out whether DATA_DIR takes writes again. More than an outcome usually has. */
const PROBE = Buffer.alloc(1_048_576);

const MEGABYTE = 1_048_576;

/**
 * Watches the space that outcomes need: on the disk of DATA_DIR, where they are spooled, and in the database. If it runs
 * low, nothing new is admitted (StorageService.obstacle), and what is in flight can still be recorded. Admission resumes by
 * itself.
 *
 * The disks of DATA_DIR and of the embedded Postgres can be seen. Another server tells nothing of its disk before it is
 * full, so a reserve of space is kept there (reserve.ts).
 */
@Injectable()
export class SpaceService implements OnApplicationShutdown {
  private readonly logger = new Logger('Space');
  private readonly reserve: Reserve | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<unknown> | undefined;
  /** Free bytes when last seen. */
  private readonly free = new Map<Place, number>();

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

  /** Looks for the first time, and then every second. */
  async start(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void this.look(), EVERY_MS).unref();
  }

  /** Returns the free bytes of the disks that can be seen. */
  get freeBytes(): { place: Place; bytes: number }[] {
    return [...this.free].map(([place, bytes]) => ({ place, bytes }));
  }

  /** The bytes of the reserve. Undefined if there is none, or it was never seen. */
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
    const isTroubled = this.storage.troubles.some(({ place }) => place === 'data_dir');
    if (!hasSpace || !isTroubled || !(await this.takesWrites(dataDir))) return;
    for (const cause of CAUSES) this.storage.lower('data_dir', cause);
  }

  private async lookAtDatabase(): Promise<void> {
    const { databaseDirectory } = this.settings;
    if (this.reserve) return this.reserve.keep();
    const hasSpace = databaseDirectory === undefined || (await this.hasSpace('database', databaseDirectory));
    if (hasSpace && this.heartbeat.age < EVERY_MS * 2) this.storage.lower('database', 'disk_full', QUIET_MS);
  }

  /** Returns whether there is enough free space to admit requests. Raises the trouble if there is not. */
  private async hasSpace(place: Place, folder: string): Promise<boolean> {
    const { minFreeBytes } = this.settings;
    const bytes = await freeBytesOf(folder);
    if (bytes === undefined) return true; // the next write there tells what is wrong
    this.free.set(place, bytes);
    const isLow = this.storage.has(place, 'disk_full') && bytes < minFreeBytes * RESUMES_AT;
    if (bytes >= minFreeBytes && !isLow) return true;
    const name = place === 'database' ? 'the embedded Postgres' : 'DATA_DIR';
    this.storage.raise(
      place,
      'disk_full',
      `The disk of ${name} has ${Math.floor(bytes / MEGABYTE)} MB left, and MIN_FREE_SPACE_MB is ${minFreeBytes / MEGABYTE}. Make space on it. Payments resume by themselves.`,
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
      return codeOf(error) === 'ENOENT'; // nothing has been kept there yet
    } finally {
      await rm(path, { force: true }).catch(() => undefined);
    }
  }
}

/** Returns the free bytes of the disk of a folder, which may not exist yet. Undefined if they cannot be read. */
async function freeBytesOf(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT' && dirname(folder) !== folder;
    return isMissing ? freeBytesOf(dirname(folder)) : undefined;
  }
}
