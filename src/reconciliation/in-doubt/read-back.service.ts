import { Injectable, Logger } from '@nestjs/common';
import { ofAccount } from '../../journal/accounts';
import { TAGS, termOf } from '../../journal/terms';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { PrismaService } from '../../platform/database/prisma.service';
import { deleteTasks, ReadBack, readBacksAskedFor } from '../../journal/worker-tasks';
import { SettleListedService } from '../settling/settle-listed.service';
import { SourcesService } from '../sources/sources.service';

/** Asks the upstream about the subjects of its events, one after the other, keeps the answers as
 * evidence, and settles the payouts that they are about. */
@Injectable()
export class ReadBackService {
  private readonly logger = new Logger('Events');

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly settling: SettleListedService,
    private readonly mayPay: MayPay,
  ) {}

  /**
   * Reads back all events that wait. Events of the same batch arrive together, and are read back together. An event
   * that arrives meanwhile may be newer than the answer, so it keeps waiting. All wait while this process is fenced.
   * @param onDoubt called for each subject that may be of a call in doubt.
   */
  async run(signal: AbortSignal, onDoubt: () => void): Promise<void> {
    while (!this.mayPay.obstacleTo('settle')) {
      const waiting = await readBacksAskedFor(this.prisma);
      if (waiting.length === 0) return;
      for (const subject of new Set(waiting.map(subjectOf))) {
        if (signal.aborted) return;
        const events = waiting.filter((event) => subjectOf(event) === subject);
        if (!(await this.isOfKnown(events, signal))) onDoubt();
        if (this.mayPay.obstacleTo('settle')) return; // they wait
        const ids = events.map(({ id }) => id);
        await deleteTasks(this.prisma, ids);
      }
    }
  }

  private async isOfKnown([event]: ReadBack[], signal: AbortSignal): Promise<boolean> {
    if (!event) return true;
    try {
      return await this.readBack(event, signal);
    } catch (err) {
      this.logger.warn({ err, event: event.id }, 'event not read back');
      return true;
    }
  }

  /** @returns whether an answer to a call named the transactions before. Then they are not in doubt. */
  private async readBack(
    { id, account, batchRef, upstreamId, upstreamRef }: ReadBack,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!this.sources.knows(account)) return true;
    const cause = { causedBy: id, by: null };
    const read =
      batchRef !== null
        ? await this.sources.batch(account, cause, batchRef)
        : upstreamId !== null
          ? await this.sources.transaction(account, cause, upstreamId)
          : null;
    if (read?.complete && !this.mayPay.obstacleTo('settle')) await this.settling.run(read.readId, 'event', signal);
    const refs = [batchRef, upstreamId, upstreamRef].filter((ref) => ref !== null);
    const rows = await this.prisma.$queryRaw<unknown[]>`
      SELECT 1 FROM indexed_call
      WHERE terms && ${refs.map((ref) => termOf(TAGS.ref, ref))}::text[] AND ${ofAccount('client_id', account)} LIMIT 1`;
    return rows.length > 0;
  }
}

/** Returns what to ask about, and whom. */
function subjectOf({ account, batchRef, upstreamId }: ReadBack): string {
  return `${account} ${batchRef ?? upstreamId}`;
}
