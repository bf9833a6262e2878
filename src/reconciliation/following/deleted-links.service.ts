import { Inject, Injectable, Logger } from '@nestjs/common';
import { ofAccount } from '../../journal/records/accounts';
import { settle } from '../../journal/settlement/settlements';
import { entriesThat } from '../../operations/lifecycle/entries';
import { EXECUTED } from '../../operations/lifecycle/lifecycle';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { uuidFloor } from '../../platform/database/uuid';
import { DELETING } from '../book/plan';

/** Entries of payouts that still wait for a payer or for an outcome. */
const OPEN = entriesThat(({ counts, account }) => counts && account !== 'recipient');

/** A payout whose transaction was deleted. */
interface DeletedPayout {
  callId: string;
  position: number;
  deletion: string;
}

/**
 * Ends the payouts whose transactions our own calls deleted. The upstream no longer lists them, so no reading
 * shows their end.
 */
@Injectable()
export class DeletedLinksService {
  private readonly logger = new Logger('FollowUp');

  constructor(
    private readonly prisma: PrismaService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Settles the payouts of an account as expired. Update the search index first.
   * @param since lower limit of the time of the deletions.
   * @returns the number of settled calls.
   */
  async run(account: string, since: Date, signal: AbortSignal): Promise<number> {
    let settled = 0;
    for (const payout of await this.read(account, since)) {
      signal.throwIfAborted();
      if (await this.expire(payout)) settled += 1;
    }
    return settled;
  }

  private read(account: string, since: Date): Promise<DeletedPayout[]> {
    return this.prisma.$queryRaw`
      WITH deleted AS MATERIALIZED (
        SELECT e.call_id, n.upstream_ref FROM indexed_call e JOIN intent_item n ON n.intent_id = e.call_id
        WHERE e.terms && ${DELETING.map((operation) => `operation:${operation}`)}::text[]
          AND e.call_id >= ${uuidFloor(since)}::uuid AND e.state = ANY (${EXECUTED}::text[])
          AND ${ofAccount('e.client_id', account)}
      )
      SELECT b.call_id::text AS "callId", b.position, min(d.call_id::text) AS deletion
      FROM deleted d
      JOIN book_transaction b ON b.id = name_key('ref', ${account}::text, d.upstream_ref)
      CROSS JOIN LATERAL (SELECT * FROM call_state WHERE call_id = b.call_id OFFSET 0) AS c
      LEFT JOIN LATERAL last_entries(c.call_id, c.answer -> 'entries',
        json_array_length(c.request -> 'items'),
        usual_entry(c.state)) AS e ON e.pos = b.position
      WHERE coalesce(e.entry, usual_entry(c.state)) = ANY (${OPEN}::text[])
      GROUP BY b.call_id, b.position`;
  }

  private async expire({ callId, position, deletion }: DeletedPayout): Promise<boolean> {
    const result = await settle(this.prisma, callId, this.settings, ({ items, outcome }) => {
      const entry = items[position]?.entry;
      if (!outcome || !entry || !OPEN.includes(entry)) return undefined;
      const reason = `Call ${deletion} deleted the transaction of this payout.`;
      const entries = [{ position, entry: 'expired' as const }];
      return { intentId: callId, source: 'poll', reason, entries, evidence: { reads: [], calls: [] } };
    });
    if (result !== 'written') return false;
    this.logger.log({ call_id: callId, deletion }, 'payout of a deleted transaction settled');
    return true;
  }
}
