import { Logger } from '@nestjs/common';
import { ENTRIES, Entry } from '../../operations/lifecycle/entries';
import { Resolution } from '../../operations/lifecycle/lifecycle';
import { UNVERIFIED_REJECTION } from '../../operations/lifecycle/rejections';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { canonical } from '../../policy/content';
import { IntentDocument, OutcomeDocument } from '../records/documents';
import { raiseOnce } from './alarms';

const logger = new Logger('Journal');

/** Time for which the rejections of an operation are doubted after a false one. */
const DISTRUST_HOURS = 24;

/** The state of a call after a settlement. */
interface SettledState {
  intent: Pick<IntentDocument, 'id' | 'client_id' | 'operation'>;
  outcome: Pick<OutcomeDocument, 'failure'> | null;
  resolution: Resolution | null;
  /** Its payouts. Empty if its items are no payouts. */
  items: readonly { entry: Entry }[];
}

/** Entries of payouts for which no money left. They agree with a rejection. */
const UNPAID: readonly Entry[] = ['not_executed', 'failed', 'expired'];

/** Returns whether a settlement shows that the upstream carried out what it had rejected. */
function isFalselyRejected({ outcome, resolution, items }: SettledState): boolean {
  if (outcome?.failure !== UNVERIFIED_REJECTION) return false;
  if (items.length === 0) return resolution === 'confirmed';
  return items.some(({ entry }) => ENTRIES[entry].known && !UNPAID.includes(entry));
}

/**
 * Raises the alarm for a call that the upstream rejected and carried out, once for each call. The alarm is an
 * act of the proxy in the activity log, an error in the process log, and a metric. The act makes the
 * rejections of the operation doubtful for a day.
 */
export async function alarmIfFalselyRejected(
  tx: Prisma.TransactionClient,
  settled: SettledState,
): Promise<void> {
  if (!isFalselyRejected(settled)) return;
  const { id, client_id: clientId, operation } = settled.intent;
  const [client] = await tx.$queryRaw<{ name: string; account: string }[]>`
    SELECT name, account FROM client WHERE id = ${clientId}::uuid`;
  const account = client?.account ?? MAIN_ACCOUNT;
  const isNew = await raiseOnce(tx, {
    action: 'false_rejection',
    target_client_id: clientId,
    target_client: client?.name ?? null,
    after: canonical({ account, operation }),
    call_id: id,
    reason: `The upstream rejected call ${id} and carried it out.`,
  });
  if (isNew)
    logger.error({ call_id: id, operation, account }, 'the upstream carried out a call that it had rejected');
}

/** An operation of an account with a false rejection within the last day. */
export interface DoubtedOperation {
  account: string;
  operation: string;
  /** The number of its false rejections within the last day. */
  calls: number;
  /** End of the doubt, a day after the last one. */
  until: Date;
}

/** Reads the operations whose rejections are doubtful, because one of them was false within the last day. */
export async function readDoubtedOperations(
  prisma: Pick<ReaderPrisma, '$queryRaw'>,
): Promise<DoubtedOperation[]> {
  return prisma.$queryRaw<DoubtedOperation[]>`
    SELECT after::json ->> 'account' AS account, after::json ->> 'operation' AS operation,
      count(*)::integer AS calls, max(acted_at) + make_interval(hours => ${DISTRUST_HOURS}) AS until
    FROM activity WHERE action = 'false_rejection'
      AND acted_at > clock_timestamp() - make_interval(hours => ${DISTRUST_HOURS})
    GROUP BY 1, 2 ORDER BY 1, 2`;
}

/** Reads which operations of which accounts are doubted. */
export async function readDoubts(
  prisma: Pick<ReaderPrisma, '$queryRaw'>,
): Promise<(of: Pick<DoubtedOperation, 'account' | 'operation'>) => boolean> {
  const doubted = await readDoubtedOperations(prisma);
  return (of) =>
    doubted.some(({ account, operation }) => account === of.account && operation === of.operation);
}
