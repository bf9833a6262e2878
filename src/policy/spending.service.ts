import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Prisma } from '../platform/database/generated/client';
import { SidePrisma } from '../platform/database/pools/side-prisma';

/** The spent and reserved amount of a client in a period, in US dollars. */
export interface PeriodSpending {
  usd: Decimal;
  /** End of the period. The next one begins at zero. */
  resetsAt: Date;
}

export interface ClientSpending {
  today: PeriodSpending;
  thisMonth: PeriodSpending;
}

/** The caps and the spending of a person or an ephemeral key. */
export interface PayerUsage extends ClientSpending {
  dailyCapUsd: string | null;
  monthlyCapUsd: string | null;
  /** Largest sum of an ephemeral key over its lifetime. Null without one. */
  totalCapUsd: string | null;
  /** Spending of an ephemeral key over its lifetime. Null for a person. */
  total: PeriodSpending | null;
}

/** Reads the spending of clients, persons and ephemeral keys. The journal writes it. */
@Injectable()
export class SpendingService {
  constructor(private readonly prisma: SidePrisma) {}

  /** Reads today's and this month's spending, in UTC by the database's clock, as in admission. */
  async spentBy(clientId: string): Promise<ClientSpending> {
    const [row] = await this.read(Prisma.sql`(SELECT ${clientId}::uuid AS id)`);
    return toSpending(row as SpentRow); // The outer join returns one row.
  }

  /** Reads the spending of all clients by their IDs, in one statement. */
  async spentByAll(): Promise<Map<string, ClientSpending>> {
    const rows = await this.read(Prisma.sql`client`);
    return new Map(rows.map((row) => [row.client, toSpending(row)]));
  }

  /** Reads the caps and the spending of persons and ephemeral keys by their IDs, in one statement. */
  async ofPayers(ids: string[]): Promise<Map<string, PayerUsage>> {
    const rows = await this.prisma.$queryRaw<PayerRow[]>`
      SELECT c.payer_id::text AS client, c.daily_cap_usd::text AS daily_cap,
        c.monthly_cap_usd::text AS monthly_cap, c.total_cap_usd::text AS total_cap,
        s.today_usd::text AS today, s.month_usd::text AS month, s.total_usd::text AS total,
        (t.today + 1)::timestamp AT TIME ZONE 'UTC' AS day_ends,
        (date_trunc('month', t.today::timestamp) + interval '1 month') AT TIME ZONE 'UTC' AS month_ends,
        least(e.expires_at, k.expires_at) AS key_ends
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS t CROSS JOIN payer_cap c
      CROSS JOIN LATERAL payer_spent(c.payer_id, t.today, c.total_cap_usd IS NOT NULL) AS s
      LEFT JOIN ephemeral_key e ON e.id = c.payer_id LEFT JOIN api_key k ON k.id = e.key_id
      WHERE c.payer_id = ANY (${ids}::uuid[])`;
    return new Map(rows.map((row) => [row.client, toPayerUsage(row)]));
  }

  private read(clients: Prisma.Sql): Promise<SpentRow[]> {
    return this.prisma.$queryRaw`
      SELECT c.id::text AS client, coalesce(sum(s.usd) FILTER (WHERE s.day = today), 0)::text AS today,
        coalesce(sum(s.usd), 0)::text AS month,
        (today + 1)::timestamp AT TIME ZONE 'UTC' AS day_ends,
        (month_begin + interval '1 month') AT TIME ZONE 'UTC' AS month_ends
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today,
        date_trunc('month', now() AT TIME ZONE 'UTC') AS month_begin) t
      CROSS JOIN ${clients} AS c
      LEFT JOIN spending s
        ON s.client_id = c.id AND s.day >= month_begin AND s.day < month_begin + interval '1 month'
      GROUP BY c.id, today, month_begin`;
  }
}

interface SpentRow {
  client: string;
  today: string;
  month: string;
  day_ends: Date;
  month_ends: Date;
}

interface PayerRow extends SpentRow {
  daily_cap: string | null;
  monthly_cap: string | null;
  total_cap: string | null;
  total: string;
  /** Null for a person. */
  key_ends: Date | null;
}

function toPayerUsage(row: PayerRow): PayerUsage {
  return {
    ...toSpending(row),
    dailyCapUsd: row.daily_cap,
    monthlyCapUsd: row.monthly_cap,
    totalCapUsd: row.total_cap,
    total: row.key_ends && { usd: new Decimal(row.total), resetsAt: row.key_ends },
  };
}

function toSpending({ today, month, day_ends, month_ends }: SpentRow): ClientSpending {
  return {
    today: { usd: new Decimal(today), resetsAt: day_ends },
    thisMonth: { usd: new Decimal(month), resetsAt: month_ends },
  };
}
