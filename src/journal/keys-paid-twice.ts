import { Injectable, Logger } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { MetricsService } from '../http/metrics/metrics.service';
import { STATES } from '../operations/lifecycle';
import { newId } from '../platform/database/ids';
import { Prisma } from '../platform/database/generated/client';
import { waitAtMost } from '../platform/database/patience';
import { PrismaService } from '../platform/database/prisma.service';
import { readCallStates } from './call-states';
import { IntentDocument } from './documents';
import { insertion } from './insertion';

const logger = new Logger('Journal');

/** The other metrics are available without the database. */
const PATIENCE_MS = 1_000;

/**
 * Raises an alarm if the idempotency key of a call that turned out to be paid belongs to another call by now, which is
 * paid, too, or may be. The key was given to the other call because this one had been settled as not executed, or because
 * an older database lacked it. The alarm is an act of the proxy in the activity log, an error in the process log, and a metric.
 *
 * The next reconciliation run reports the same as `key_paid_twice`. A person should not have to wait for it.
 * @param how what was found out about the call, for the activity log.
 */
export async function alarmIfPaidTwice(
  tx: Prisma.TransactionClient,
  intent: Pick<IntentDocument, 'id' | 'client_id' | 'operation' | 'idempotency_key'>,
  how = 'was settled as not executed and is paid after all',
): Promise<void> {
  const { id, client_id: clientId, operation, idempotency_key: key } = intent;
  if (key === undefined) return;
  const [claim] = await tx.$queryRaw<{ owner: string; client: string }[]>`
    SELECT k.intent_id::text AS owner, c.name AS client FROM idempotency_claim k JOIN client c ON c.id = k.client_id
    WHERE k.client_id = ${clientId}::uuid AND k.operation = ${operation} AND k.key = ${key} AND k.intent_id <> ${id}::uuid`;
  if (!claim) return;
  const other = (await readCallStates(tx, [claim.owner], 0)).get(claim.owner);
  if (!other || STATES[other.state].executed === 'no') return;
  const act = {
    id: newId(),
    action: 'key_paid_twice',
    target_client_id: clientId,
    target_client: claim.client,
    after: '{}',
    via: 'proxy',
    call_id: id,
    reason: `Call ${id} ${how}. Call ${claim.owner} has its key now and is ${other.state}.`,
  };
  await tx.$executeRaw(insertion('activity', [act]));
  logger.error({ call_id: id, other_call_id: claim.owner, operation }, 'one idempotency key, two paid calls');
}

/** Counts the alarms, for Prometheus. */
@Injectable()
export class KeysPaidTwiceMetric {
  constructor(prisma: PrismaService, { registry }: MetricsService) {
    new Gauge({
      name: 'payout_proxy_keys_paid_twice',
      help: 'Calls that turned out to be paid after another call had received their idempotency key. Absent while the database does not answer.',
      registers: [registry],
      async collect() {
        const counting = prisma.$queryRaw<[{ count: number }]>`
          SELECT count(*)::integer AS count FROM activity WHERE action = 'key_paid_twice'`.catch(() => undefined);
        const rows = await waitAtMost(counting, PATIENCE_MS);
        this.reset();
        if (rows) this.set(rows[0].count);
      },
    });
  }
}
