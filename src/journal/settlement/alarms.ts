import { Injectable } from '@nestjs/common';
import { MetricsService } from '../../http/metrics/metrics.service';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { waitAtMost } from '../../platform/database/pools/timeouts';
import { insertion } from '../records/document-sql';

/** An alarm about a call, as an act of the proxy in the activity log. */
interface Alarm {
  action: 'false_rejection' | 'key_paid_twice';
  target_client_id: string;
  target_client: string | null;
  after: string;
  call_id: string;
  reason: string;
}

/**
 * Records an alarm, unless its call or one of the others has it already.
 * @returns whether it is new.
 */
export async function raiseOnce(
  tx: Prisma.TransactionClient,
  alarm: Alarm,
  others: string[] = [],
): Promise<boolean> {
  const [raised] = await tx.$queryRaw<unknown[]>`
    SELECT FROM activity WHERE action = ${alarm.action}
      AND call_id = ANY (${[alarm.call_id, ...others]}::uuid[]) LIMIT 1`;
  if (raised) return false;
  await tx.$executeRaw(insertion('activity', [{ id: newId(), via: 'proxy', ...alarm }]));
  return true;
}

/** Timeout of these metrics, in ms. The other metrics work without the database. */
const TIMEOUT_MS = 1_000;

/** Counts the alarms, for Prometheus. */
@Injectable()
export class AlarmMetrics {
  constructor(prisma: SidePrisma, metrics: MetricsService) {
    const watch = (name: string, action: Alarm['action'], help: string) =>
      metrics.watch(name, `${help} Absent while the database does not answer.`, async () => {
        const counting = prisma.$queryRaw<[{ count: number }]>`
          SELECT count(*)::integer AS count FROM activity WHERE action = ${action}`.catch(() => undefined);
        return (await waitAtMost(counting, TIMEOUT_MS))?.[0].count;
      });
    watch(
      'payout_proxy_false_rejections',
      'false_rejection',
      'Calls that the upstream rejected and carried out.',
    );
    watch(
      'payout_proxy_keys_paid_twice',
      'key_paid_twice',
      'Calls that turned out to be paid after another call had received their idempotency key.',
    );
  }
}
