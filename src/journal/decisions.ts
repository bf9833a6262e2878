import { PrismaService } from '../database/prisma.service';
import { NewDecision } from './records';

/** What keeps a held call from being approved. Only of the first one will it ever be too late. */
export type Obstacle = 'already_decided' | 'stopped' | 'over_daily_cap' | 'over_monthly_cap';

/**
 * Lets a held call be sent, and reserves what it is worth on today's cap, as if it had been asked for today.
 * @param counts whether its total counts against caps.
 * @returns null if it is approved, and its caller is the only one who may send it; else why it is not.
 */
export async function approve(
  prisma: PrismaService,
  decision: NewDecision,
  { clientId, counts }: { clientId: string; counts: boolean },
): Promise<Obstacle | null> {
  const { intentId } = decision;
  return prisma.$transaction(async (tx) => {
    // As admission does. What others spent is read in a statement of its own: one begun before the lock was had would
    // not see it.
    await tx.$executeRaw`SELECT FROM client WHERE id = ${clientId}::uuid FOR NO KEY UPDATE`;
    const [found] = await tx.$queryRaw<{ today: string; obstacle: Obstacle | null }[]>`
      WITH clock AS (
        SELECT clock_timestamp() AS now, (clock_timestamp() AT TIME ZONE 'UTC')::date AS today
      ), spent AS (
        SELECT coalesce(sum(usd) FILTER (WHERE day = today), 0) AS daily, coalesce(sum(usd), 0) AS monthly
        FROM clock LEFT JOIN spending ON client_id = ${clientId}::uuid AND day >= date_trunc('month', today)::date
      )
      SELECT today::text, CASE
        WHEN i.held_for IS NULL OR i.expires_at < now OR EXISTS (SELECT FROM decision WHERE intent_id = i.id)
          THEN 'already_decided'
        WHEN EXISTS (
          SELECT FROM stop s
          WHERE NOT EXISTS (SELECT FROM stop_lift WHERE stop_id = s.id) AND (
            (s.stops_client_id IS NULL AND s.stops_operation IS NULL)
            OR s.stops_client_id = i.client_id OR s.stops_operation = i.operation)) THEN 'stopped'
        WHEN ${counts} AND daily + i.total_usd > c.daily_cap_usd THEN 'over_daily_cap'
        WHEN ${counts} AND monthly + i.total_usd > c.monthly_cap_usd THEN 'over_monthly_cap' END AS obstacle
      FROM clock, spent, intent i JOIN client c ON c.id = i.client_id WHERE i.id = ${intentId}::uuid`;
    if (!found) throw new Error('the call to approve is not on record');
    if (found.obstacle) return found.obstacle;
    const reservedOn = counts ? found.today : null;
    const { bodyCommitment, reason, by, process } = decision;
    // A rejection takes no lock: it may have come since.
    const written = await tx.$executeRaw`
      INSERT INTO decision (intent_id, verdict, reason, body_commitment, client_id, key_id, actor, reserved_on, process)
      VALUES (${intentId}::uuid, 'approved', ${reason}, ${bodyCommitment}, ${by.clientId}::uuid, ${by.keyId}::uuid,
        ${by.actor}, ${reservedOn}::date, ${process}::integer)
      ON CONFLICT DO NOTHING`;
    if (written === 0) return 'already_decided';
    await tx.$executeRaw`
      INSERT INTO spending (client_id, day, usd)
      SELECT client_id, ${reservedOn}::date, total_usd FROM intent
      WHERE id = ${intentId}::uuid AND ${counts} AND total_usd IS NOT NULL
      ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd`;
    return null;
  });
}

/** Decides that a held call is never sent. @returns false if it was decided, or had expired, before. */
export async function reject(prisma: PrismaService, decision: NewDecision): Promise<boolean> {
  const { intentId, bodyCommitment, reason, by, process } = decision;
  const written = await prisma.$executeRaw`
    INSERT INTO decision (intent_id, verdict, reason, body_commitment, client_id, key_id, actor, process)
    SELECT id, 'rejected', ${reason}, ${bodyCommitment}, ${by.clientId}::uuid, ${by.keyId}::uuid, ${by.actor},
      ${process}::integer
    FROM intent
    WHERE id = ${intentId}::uuid AND held_for IS NOT NULL AND (expires_at < clock_timestamp()) IS NOT TRUE
    ON CONFLICT DO NOTHING`;
  return written === 1;
}
