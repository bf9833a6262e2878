import { Injectable } from '@nestjs/common';
import { StorageService } from '../../platform/storage/storage.service';
import { codeOf } from '../../platform/errors/error-code';
import { HeartbeatService } from './heartbeat.service';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { causeOf, causeOfState } from '../../platform/database/pools/unavailable';

/**
 * A heartbeat has a connection of its own and changes one row in its place, so it says nothing about these. They are over
 * once they were not seen for this long. Milliseconds.
 */
const QUIET_MS = { too_many_connections: 10_000, io_error: 60_000 } as const;

/**
 * Tells why the database fails, by what it answers to the statements of this process and to its heartbeat. It is the only
 * one that does, so a failure is counted once. Full disks are over when SpaceService says so.
 */
@Injectable()
export class FailuresService {
  constructor(storage: StorageService, prisma: PrismaService, heartbeat: HeartbeatService) {
    prisma.watchErrors((code) => {
      const cause = causeOfState(code);
      // A timeout or a lock is no failure of the server. If it is gone, the heartbeat tells.
      if (cause !== undefined && cause !== 'unreachable') storage.note('database', cause, code);
    });
    heartbeat.observeFailures((error) => {
      storage.note('database', causeOf(error) ?? 'unreachable', codeOf(error));
    });
    heartbeat.observe(() => {
      for (const cause of ['unreachable', 'read_only'] as const) storage.lower('database', cause);
      for (const cause of ['too_many_connections', 'io_error'] as const)
        storage.lower('database', cause, QUIET_MS[cause]);
    });
  }
}
