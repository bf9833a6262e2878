import { Prisma } from '../../platform/database/generated/client';

/** Returns whether dual control was last recorded as on. False in a new database. */
export async function isDualControlRecorded(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
): Promise<boolean> {
  const [last] = await tx.$queryRaw<{ after: string }[]>`
    SELECT after FROM activity WHERE action = 'dual_control_changed' ORDER BY acted_at DESC, id DESC LIMIT 1`;
  return last !== undefined && (JSON.parse(last.after) as { dual_control: boolean }).dual_control;
}

/** Returns whether any client ever had the scope `admin`. Records are permanent. */
export async function hadAdministrator(tx: Pick<Prisma.TransactionClient, '$queryRaw'>): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM client WHERE 'admin' = ANY (scopes)
    UNION ALL
    SELECT 1 FROM activity WHERE action IN ('client_created', 'scopes_changed')
      AND (after::jsonb @> '{"scopes":["admin"]}' OR before::jsonb @> '{"scopes":["admin"]}')
    LIMIT 1`;
  return found.length > 0;
}
