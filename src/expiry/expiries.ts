import { hasEnded } from '../access/sessions/session-life';
import { RunningConfig } from '../platform/config/config';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { removeContents, removePayments } from './call-hashes';

/** Rows that expire. `remove` returns the number of removed rows. */
interface Expiry {
  table: string;
  remove: (prisma: PrismaService, settings: RunningConfig) => Promise<number>;
}

/** Everything that expires, and when. The order has no meaning. */
export const EXPIRIES: readonly Expiry[] = [
  // A minute after their expiry, because an instance's clock may be behind the database's.
  expiry('used_token', () => "counts_until < now() - interval '1 minute'"),
  // An ended session is rejected at once, with or without its row.
  expiry('console_session', ({ consoleIdleMinutes }) => hasEnded(String(consoleIdleMinutes))),
  expiry('page_session', ({ pageIdleMinutes }) => hasEnded(String(pageIdleMinutes))),
  // Rounds of the resolver whose result was never fetched.
  expiry('worker_task', () => "kind = 'round' AND asked_at < now() - interval '1 hour'"),
  // Longer than they are expected, which every instance decides by its own clock.
  expiry('call_fee', () => "day < now() - interval '40 days'"),
  // Once no limit needs them. See docs/internals/decisions/access/0057-the-person-behind-a-request.md.
  { table: 'person', remove: removePersonHashes },
  { table: 'recent_content', remove: removeContents },
  { table: 'recipient_payment', remove: removePayments },
];

/** Rows per statement. */
const BATCH_SIZE = 1_000;

/** @param condition returns SQL about a row `s` of the table. */
function expiry(table: string, condition: (settings: RunningConfig) => string): Expiry {
  return {
    table,
    async remove(prisma, settings) {
      let removed = 0;
      for (let last = BATCH_SIZE; last === BATCH_SIZE; removed += last) {
        last = await prisma.$executeRawUnsafe(`
          DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
            SELECT s.ctid FROM ${table} s WHERE ${condition(settings)} LIMIT ${BATCH_SIZE}))`);
      }
      return removed;
    },
  };
}

/**
 * Removes the hashes and identities of erased persons whose caps and idempotency keys have expired. Records
 * keep the IDs. A person with own limits keeps the hash, because an erasure would otherwise lift the limits.
 */
function removePersonHashes(prisma: PrismaService): Promise<number> {
  return prisma.$executeRaw`
    WITH expired AS (
      UPDATE person SET sha256 = sha256(uuid_send(id)), issuer = NULL, forget_after = NULL
      WHERE forget_after < clock_timestamp()
        AND num_nonnulls(daily_cap_usd, monthly_cap_usd, max_item_usd, requests_per_minute) = 0
      RETURNING id
    )
    DELETE FROM person_identity USING expired WHERE person_id = expired.id`;
}
