import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { PrismaService } from '../database/prisma.service';

/** What a client has spent and reserved in a span of time, in US dollars. */
export interface Spent {
  usd: Decimal;
  /** When the span ends and the next begins with nothing spent. */
  resetsAt: Date;
}

/** Reads what clients have spent; the journal writes it. */
@Injectable()
export class SpendingService {
  constructor(private readonly prisma: PrismaService) {}

  /** Today's and this month's, in UTC and by the database's clock, as admission counts. */
  async spentBy(clientId: string): Promise<{ today: Spent; thisMonth: Spent }> {
    const [row] = await this.prisma.$queryRaw<SpentRow[]>`
      SELECT coalesce(sum(s.usd) FILTER (WHERE s.day = today), 0)::text AS today,
        coalesce(sum(s.usd), 0)::text AS month,
        (today + 1)::timestamp AT TIME ZONE 'UTC' AS day_ends,
        (month_begin + interval '1 month') AT TIME ZONE 'UTC' AS month_ends
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today, date_trunc('month', now() AT TIME ZONE 'UTC') AS month_begin) t
      LEFT JOIN spending s
        ON s.client_id = ${clientId}::uuid AND s.day >= month_begin AND s.day < month_begin + interval '1 month'
      GROUP BY today, month_begin`;
    const { today, month, day_ends, month_ends } = row as SpentRow; // an outer join with one row
    return {
      today: { usd: new Decimal(today), resetsAt: day_ends },
      thisMonth: { usd: new Decimal(month), resetsAt: month_ends },
    };
  }
}

interface SpentRow {
  today: string;
  month: string;
  day_ends: Date;
  month_ends: Date;
}
