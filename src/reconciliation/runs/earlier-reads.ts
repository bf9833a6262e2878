import { Injectable } from '@nestjs/common';
import { PrismaService } from '../../platform/database/prisma.service';
import { Problem } from '../../platform/errors/problem';
import { RunSettings, withMargin } from '../matching/run-settings';
import { Question } from './question';

interface Listing {
  id: string;
  known_at: Date;
}

/** Finds what was read of the upstream before, and came whole. */
@Injectable()
export class EarlierReadsService {
  constructor(private readonly prisma: PrismaService) {}

  /**
   * What a run is to compare with, if that is not to be asked anew: a statement, or the listing that was the newest then.
   * @throws Problem if there is no such.
   */
  async chosenFor(question: Question, settings: RunSettings): Promise<string | null> {
    const { statementId, asOf } = question;
    if (statementId !== null) return this.statement(statementId);
    return asOf === null ? null : this.listingOf(question, asOf, settings);
  }

  /** What a run has asked before it was cut off. A look at a source that came whole is not taken twice. */
  async ofCause(causedBy: string, source: string, subject: string | null = null): Promise<string | undefined> {
    const [row] = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT r.id FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.caused_by = ${causedBy}::uuid AND r.source = ${source} AND r.subject IS NOT DISTINCT FROM ${subject} AND e.complete
      ORDER BY r.id LIMIT 1`;
    return row?.id;
  }

  /** The run for whose sake a listing was read; null: none. */
  async causeOf(readId: string): Promise<string | null> {
    const [row] = await this.prisma.$queryRaw<{ cause: string | null }[]>`
      SELECT caused_by AS cause FROM source_read WHERE id = ${readId}::uuid`;
    return row?.cause ?? null;
  }

  private async statement(id: string): Promise<string> {
    const [row] = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT r.id FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.id = ${id}::uuid AND r.source = 'statement' AND e.complete`;
    if (row) return row.id;
    const detail = 'must be the ID of a completely imported statement, as GET /v1/reconciliation/statements lists them';
    throw new Problem('invalid_request', { faults: [{ pointer: '/statement_id', detail }] });
  }

  /**
   * The newest whole listing of a period, and of what surrounds it, that was known by then. One that was asked for a run is
   * known from the beginning of that run: as of it, another run sees what it saw.
   */
  private async listingOf({ from, to }: Question, asOf: Date, settings: RunSettings): Promise<string> {
    const { from: earliest, to: latest } = withMargin(from, to, settings);
    const listings = await this.prisma.$queryRaw<Listing[]>`
      SELECT r.id, coalesce(run.as_of, e.ended_at) AS known_at
      FROM source_read r JOIN source_read_end e ON e.read_id = r.id LEFT JOIN reconciliation_run run ON run.id = r.caused_by
      WHERE r.source = 'transactions' AND e.complete
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
