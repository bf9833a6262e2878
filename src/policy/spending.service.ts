import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Prisma } from '../platform/database/generated/client';
import { SidePrisma } from '../platform/database/side-prisma';

/** The amount that a client has spent and reserved in a period, in US dollars. */
export interface Spent {
  usd: Decimal;
  /** When the period ends. The next one begins at zero. */
  resetsAt: Date;
}

export interface Spending {
  today: Spent;
  thisMonth: Spent;
}

/** Reads the spending of clients. The journal writes it. */
@Injectable()
export class SpendingService {
  constructor(private readonly prisma: SidePrisma) {}

  /** Reads today's and this month's spending, in UTC and by the database's clock, as admission counts it. */
  async spentBy(clientId: string): Promise<Spending> {
    const [row] = await this.read(Prisma.sql`(SELECT ${clientId}::uuid AS id)`);
    return toSpending(row as SpentRow); // The outer join has one row.
  }

  /** Reads the spending of all clients by their IDs, in one statement. */
  async spentByAll(): Promise<Map<string, Spending>> {
    const rows = await this.read(Prisma.sql`client`);
    return new Map(rows.map((row) => [row.client, toSpending(row)]));
  }

  private read(clients: Prisma.Sql): Promise<SpentRow[]> {
    return this.prisma.$queryRaw`
      SELECT c.id::text AS client, coalesce(sum(s.usd) FILTER (WHERE s.day = today), 0)::text AS today,
        coalesce(sum(s.usd), 0)::text AS month,
        (today + 1)::timestamp AT TIME ZONE 'UTC' AS day_ends,
        (month_begin + interval '1 month') AT TIME ZONE 'UTC' AS month_ends
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today, date_trunc('month', now() AT TIME ZONE 'UTC') AS month_begin) t
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

function toSpending({ today, month, day_ends, month_ends }: SpentRow): Spending {
  return {
    today: { usd: new Decimal(today), resetsAt: day_ends },
    thisMonth: { usd: new Decimal(month), resetsAt: month_ends },
  };
}
