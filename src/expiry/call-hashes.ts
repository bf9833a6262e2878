import { NIL } from 'uuid';
import { asSameContent, readCallStates } from '../journal/admission/call-states';
import { STATES } from '../operations/lifecycle/lifecycle';
import { RunningConfig } from '../platform/config/config';
import { givenUpAfterMs } from '../platform/config/upstream/upstream-timeouts';
import { clock } from '../platform/database/clock';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { uuidFloor } from '../platform/database/uuid';
import { isBelievedUnpaid, LASTING_SECONDS } from '../policy/same-content';

/** Calls per statement. */
const BATCH_SIZE = 1_000;

/**
 * Removes the content hashes of calls after their duplicate window. The content of an open call (in progress,
 * in doubt or held) stays while the call is open. It stays a day longer if the call was paid after a doubt,
 * or if its client missed the answer.
 * @returns the number of removed rows.
 */
export async function removeContents(prisma: PrismaService, settings: RunningConfig): Promise<number> {
  const seconds = Math.max(settings.duplicateWindowSeconds, settings.duplicateAcrossClientsSeconds);
  const lastingSeconds = Math.max(LASTING_SECONDS, seconds);
  return (
    (await removeContentsOfKind(prisma, settings, { lasting: false, seconds })) +
    (await removeContentsOfKind(prisma, settings, { lasting: true, seconds: lastingSeconds }))
  );
}

/** A kind of content, and its retention after a call's answer. */
interface ContentKind {
  lasting: boolean;
  seconds: number;
}

async function removeContentsOfKind(
  prisma: PrismaService,
  settings: RunningConfig,
  { lasting, seconds }: ContentKind,
): Promise<number> {
  // A younger call was answered even later.
  const before = uuidFloor(new Date(clock.nowMs() - seconds * 1_000));
  const readAfter = (id: string) => prisma.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT intent_id::text AS id FROM recent_content
    WHERE lasting = ${lasting} AND intent_id > ${id}::uuid AND intent_id < ${before}::uuid
    ORDER BY 1 LIMIT ${BATCH_SIZE}`;
  return removeInBatches(readAfter, async (ids) => {
    const states = await readCallStates(prisma, ids, givenUpAfterMs(settings) / 1_000);
    const expired = ids.filter((id) => {
      const call = asSameContent(id, states.get(id));
      const neededFor = call && isBelievedUnpaid(call) ? Math.max(LASTING_SECONDS, seconds) : seconds;
      return !call || (call.paidSecondsAgo !== null && call.paidSecondsAgo > neededFor);
    });
    return prisma.$executeRaw`
      DELETE FROM recent_content WHERE lasting = ${lasting} AND intent_id = ANY (${expired}::uuid[])`;
  });
}

/**
 * Removes the recipient hashes of payments that no limit needs. Those of open calls stay.
 * @returns the number of removed rows.
 */
export async function removePayments(prisma: PrismaService, settings: RunningConfig): Promise<number> {
  const readAfter = (id: string) => prisma.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT intent_id::text AS id FROM recipient_payment
    WHERE kept_until < (clock_timestamp() AT TIME ZONE 'UTC')::date AND intent_id > ${id}::uuid
    ORDER BY 1 LIMIT ${BATCH_SIZE}`;
  return removeInBatches(readAfter, async (ids) => {
    const states = await readCallStates(prisma, ids, givenUpAfterMs(settings) / 1_000);
    const expired = ids.filter((id) => STATES[states.get(id)?.state ?? 'refused'].executed !== 'open');
    return prisma.$executeRaw`DELETE FROM recipient_payment WHERE intent_id = ANY (${expired}::uuid[])`;
  });
}

async function removeInBatches(
  readAfter: (id: string) => Promise<{ id: string }[]>,
  remove: (ids: string[]) => Promise<number>,
): Promise<number> {
  let removed = 0;
  for (let after: string | undefined = NIL; after !== undefined;) {
    const ids: string[] = (await readAfter(after)).map(({ id }) => id);
    if (ids.length > 0) removed += await remove(ids);
    after = ids.length < BATCH_SIZE ? undefined : ids.at(-1);
  }
  return removed;
}
