import { Timeouts } from '../platform/config/upstream-timeouts';
import { PrismaService } from '../platform/database/prisma.service';
import { LedgerRecords } from './ledger';
import { NewSettlement } from './records';
import { settle, SettledCall } from './settlements';

/**
 * Records that the answer of a call could not be handed over, because its caller hung up or was told that the outcome is
 * unknown while it was written. An
 * outcome that is not a success needs no such record, because its call was not paid, or is in doubt.
 */
export async function recordUndelivered(prisma: PrismaService, callId: string, timeouts: Timeouts): Promise<void> {
  await settle(prisma, callId, timeouts, settlementOf);
}

function settlementOf({ intent, outcome }: SettledCall): NewSettlement | undefined {
  if (outcome?.kind !== 'succeeded') return undefined;
  return {
    intentId: intent.id,
    source: 'answer',
    reason: "The answer was not handed over: the caller's connection had closed, or the outcome was recorded too late.",
    by: null,
    entries: [],
    evidence: { reads: [], calls: [] },
    undelivered: true,
  };
}

/** Returns whether the caller of a call hung up before its answer was handed over. */
export function isUndelivered({ outcome, settlements }: Pick<LedgerRecords, 'outcome' | 'settlements'>): boolean {
  return outcome?.undelivered === true || settlements.some(({ undelivered }) => undelivered === true);
}
