import { Decimal } from 'decimal.js';
import { toDecimal } from '../../access/clients/limits/limits';
import { Prisma } from '../../platform/database/generated/client';
import { AdmissionRequest } from '../../policy/admission';
import { PayerCaps } from '../../policy/limits/caps';

interface PayerRow {
  id: string;
  kind: PayerCaps['kind'];
  /** Key of payers whose spending counts together. */
  countsAs: string;
  dailyCapUsd: string | null;
  monthlyCapUsd: string | null;
  totalCapUsd: string | null;
  todayUsd: string;
  monthUsd: string;
  totalUsd: string;
}

/**
 * Reads the caps and the spending of the persons and ephemeral keys of requests. Valid only while their
 * clients are locked.
 * @param today the day (UTC) of the caps.
 */
export async function readPayerCaps(
  tx: Prisma.TransactionClient,
  requests: Pick<AdmissionRequest, 'payers'>[],
  today: string,
): Promise<Map<string, PayerCaps>> {
  const ids = [...new Set(requests.flatMap(({ payers }) => payers))];
  if (ids.length === 0) return new Map();
  const rows = await tx.$queryRaw<PayerRow[]>`
    SELECT c.payer_id::text AS id, c.kind, c.counts_as AS "countsAs", c.daily_cap_usd::text AS "dailyCapUsd",
      c.monthly_cap_usd::text AS "monthlyCapUsd", c.total_cap_usd::text AS "totalCapUsd",
      s.today_usd::text AS "todayUsd", s.month_usd::text AS "monthUsd", s.total_usd::text AS "totalUsd"
    FROM payer_cap c
    CROSS JOIN LATERAL payer_spent(c.payer_id, ${today}::date, c.total_cap_usd IS NOT NULL) AS s
    WHERE c.payer_id = ANY (${ids}::uuid[])`;
  const groups = new Map<string, PayerCaps[]>();
  return new Map(
    rows.map((row) => {
      const alike = groups.get(row.countsAs) ?? [];
      const caps: PayerCaps = {
        kind: row.kind,
        dailyCapUsd: toDecimal(row.dailyCapUsd),
        monthlyCapUsd: toDecimal(row.monthlyCapUsd),
        totalCapUsd: toDecimal(row.totalCapUsd),
        spentTodayUsd: new Decimal(row.todayUsd),
        spentThisMonthUsd: new Decimal(row.monthUsd),
        spentUsd: new Decimal(row.totalUsd),
        alike,
      };
      alike.push(caps);
      groups.set(row.countsAs, alike);
      return [row.id, caps];
    }),
  );
}

/** Reserves the amount of a call on the caps of its payers. The row of its client must be locked. */
export async function reserveForPayers(
  tx: Prisma.TransactionClient,
  callId: string,
  day: string,
  usd: Decimal,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO payer_spending (payer_id, day, usd)
    SELECT payer_id, ${day}::date, ${usd.toFixed()}::numeric
    FROM intent CROSS JOIN LATERAL unnest(ARRAY[person_id, ephemeral_key_id]) AS payer_id
    WHERE id = ${callId}::uuid AND payer_id IS NOT NULL ORDER BY payer_id
    ON CONFLICT (payer_id, day) DO UPDATE SET usd = payer_spending.usd + EXCLUDED.usd`;
}
