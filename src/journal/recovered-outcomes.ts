import { Logger } from '@nestjs/common';
import { Timeouts } from '../platform/config/upstream-timeouts';
import { PrismaService } from '../platform/database/prisma.service';
import { isUnavailable } from '../platform/database/unavailable';
import { OutcomeSpool, spoolFolder } from './outcome-spool';
import { insertKeptOutcome } from './outcomes';

const logger = new Logger('Journal');

/** What became of the files in DATA_DIR/outcomes. */
interface RestoredOutcomes {
  /** Calls that had no outcome and have one now. */
  outcomes: number;
  /** Files that could not be read, or whose outcome the database does not take. */
  unreadable: number;
}

/**
 * Writes the outcomes that proxies could not write to the database, from the given DATA_DIRs. Nobody else reads the files
 * of an instance that is gone. They stay in place, so this can be repeated. Call it after the calls were restored: an
 * outcome without its call is skipped.
 */
export async function restoreSpooledOutcomes(
  prisma: PrismaService,
  dataDirs: string[],
  timeouts: Timeouts,
): Promise<RestoredOutcomes> {
  const restored: RestoredOutcomes = { outcomes: 0, unreadable: 0 };
  for (const dataDir of dataDirs) {
    const spool = new OutcomeSpool(spoolFolder(dataDir));
    for (const id of await spool.ids()) {
      try {
        const outcome = await spool.read(id);
        const written = outcome && (await insertKeptOutcome(prisma, outcome, timeouts));
        if (written?.isNew) restored.outcomes += 1;
      } catch (error) {
        if (isUnavailable(error)) throw error;
        logger.error({ call_id: id }, 'spooled outcome not restored');
        restored.unreadable += 1;
      }
    }
  }
  return restored;
}
