import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { causeOf, causeOfState } from '../../platform/database/pools/unavailable';
import { codeOf } from '../../platform/errors/error-code';
import { StorageService } from '../../platform/storage/storage.service';
import { HeartbeatService } from './heartbeat.service';

/**
 * Time without a failure after which it is over, in ms. A heartbeat has a connection of its own and updates
 * one row in place, so it does not show these failures.
 */
const QUIET_MS = { too_many_connections: 10_000, io_error: 60_000 } as const;

/**
 * Finds the cause of database failures from the answers to this process's statements and heartbeats. The only
 * observer, so a failure is counted once. SpaceService decides when a full disk is over.
 */
@Injectable()
export class FailuresService {
  constructor(storage: StorageService, prisma: PrismaService, heartbeat: HeartbeatService) {
    prisma.watchErrors((code) => {
      const cause = causeOfState(code);
      // A timeout or a lock is not a server failure. The heartbeat detects an unreachable server.
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
