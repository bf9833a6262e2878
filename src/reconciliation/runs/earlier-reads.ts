import { Injectable } from '@nestjs/common';
import { isRecordOf, accountNamed } from '../../journal/accounts';
import { PrismaService } from '../../platform/database/prisma.service';
import { Problem } from '../../platform/errors/problem';
import { RunSettings, withMargin } from '../matching/plan';
import { Question } from './question';

interface Listing {
  id: string;
  known_at: Date;
}

/** Finds complete earlier readings of the upstream. */
@Injectable()
export class EarlierReadsService {
  constructor(private readonly prisma: PrismaService) {}

  /**
   * Returns the source that a run must compare with, if it must not read a new one: a statement, or the newest listing
   * that was known at `as_of`.
   * @throws Problem if there is no such source.
   */
  async chosenFor(question: Question, settings: RunSettings): Promise<string | null> {
    const { account, statementId, asOf } = question;
    if (statementId !== null) return this.statement(statementId, account);
    return asOf === null ? null : this.listingOf(question, asOf, settings);
  }

  /**
   * Returns the readings that a run completed before it was interrupted, so that it does not read these sources again.
   */
  async ofCause(causedBy: string, source: string, subject: string | null = null): Promise<string | undefined> {
    const [row] = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT r.id FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.caused_by = ${causedBy}::uuid AND r.source = ${source} AND r.subject IS NOT DISTINCT FROM ${subject} AND e.complete
      ORDER BY r.id LIMIT 1`;
    return row?.id;
  }

  /** The run that a listing was read for. Null if there is none. */
  async causeOf(readId: string): Promise<string | null> {
    const [row] = await this.prisma.$queryRaw<{ cause: string | null }[]>`
      SELECT caused_by AS cause FROM source_read WHERE id = ${readId}::uuid`;
    return row?.cause ?? null;
  }

  private async statement(id: string, account: string): Promise<string> {
    const [row] = await this.prisma.$queryRaw<{ id: string; account: string | null }[]>`
      SELECT r.id, r.account FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.id = ${id}::uuid AND r.source = 'statement' AND e.complete`;
    if (row && accountNamed(row.account) === account) return row.id;
    const detail = row
      ? `must be a statement of the account ${account}; this one is of ${accountNamed(row.account)}`
      : 'must be the ID of a completely imported statement, as GET /v1/reconciliation/statements lists them';
    throw new Problem('invalid_request', { faults: [{ pointer: '/statement_id', detail }] });
  }

  /**
   * The newest complete listing of the account, of a period and its surroundings that was known at that time. A listing that was read
   * for a run counts from the beginning of that run. A second run as of that time therefore sees what the first saw.
   */
  private async listingOf({ account, from, to }: Question, asOf: Date, settings: RunSettings): Promise<string> {
    const { from: earliest, to: latest } = withMargin(from, to, settings);
    const listings = await this.prisma.$queryRaw<Listing[]>`
      SELECT r.id, coalesce(run.as_of, e.ended_at) AS known_at
      FROM source_read r JOIN source_read_end e ON e.read_id = r.id LEFT JOIN reconciliation_run run ON run.id = r.caused_by
      WHERE r.source = 'transactions' AND e.complete AND ${isRecordOf('r.account', account)}
        AND coalesce(r.from_at <= ${earliest}::timestamptz, true) AND coalesce(r.to_at >= ${latest}::timestamptz, true)
      ORDER BY known_at, r.id`;
    const known = listings.filter(({ known_at: at }) => at <= asOf).at(-1);
    if (known) return known.id;
    const [oldest] = listings;
    throw new Problem('listing_missing', {
      text: oldest
        ? `No complete listing of the upstream's transactions of this period had been read by then. The earliest was read at ${oldest.known_at.toISOString()}. Set as_of to that time or later, or omit it.`
        : "No complete listing of the upstream's transactions of this period has been read. Omit as_of.",
    });
  }
}
