import { Injectable } from '@nestjs/common';
import { rowsToRead, idBefore, toPage } from '../../history/records/page';
import { maskContacts } from '../../history/records/masking';
import { shown } from '../../history/records/view';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { CATEGORIES, Category } from './categories';
import { FINDINGS_TABLE } from './findings-csv';
import { FindingEvidence } from './evidence.dto';
import {
  FindingPage,
  FindingsCsvSearch,
  FindingSearch,
  FindingSight,
  FindingStep,
  FindingStory,
  State,
} from './findings.dto';
import { toFinding } from './present';
import { countFindings, FieldDifference, FindingFilters, readFindings } from './read';

/** The number of runs shown. An hourly job can see a finding very often, and nobody reads more. */
const NEWEST_SIGHTS = 100;

/** The number of rows that an export holds in memory at once. */
const BATCH = 1_000;

/** Lists, reads and exports findings. */
@Injectable()
export class FindingsService {
  constructor(private readonly prisma: ReaderPrisma) {}

  async search({ page_size, page_token, ...filters }: FindingSearch, reveal: boolean): Promise<FindingPage> {
    const request = { ...(page_size && { page_size }), ...(page_token !== undefined && { page_token }) };
    const found = await readFindings(this.prisma, filters, { before: idBefore(request), limit: rowsToRead(request) });
    const { rows, nextPageToken } = toPage(found, request);
    return { findings: rows.map((row) => toFinding(row, reveal)), next_page_token: nextPageToken };
  }

  /** Returns how many rows the CSV will have, as far as is known now. */
  count(filters: FindingFilters): Promise<number> {
    return countFindings(this.prisma, filters);
  }

  /** Streams the rows in constant memory. */
  async *csv({ delimiter = 'comma', ...filters }: FindingsCsvSearch, reveal: boolean): AsyncGenerator<string, void> {
    yield FINDINGS_TABLE.heading(delimiter);
    let before: string | undefined;
    do {
      const rows = await readFindings(this.prisma, filters, { before, limit: BATCH });
      const findings = rows.map((row) => toFinding(row, reveal));
      if (findings.length > 0) yield FINDINGS_TABLE.rows(findings, delimiter);
      before = rows.length === BATCH ? rows.at(-1)?.id : undefined;
    } while (before !== undefined);
  }

  async one(id: string, reveal: boolean): Promise<FindingStory | undefined> {
    const [row] = await readFindings(this.prisma, { id, state: 'any' }, { limit: 1 });
    if (!row) return undefined;
    const [sights, count, steps] = await Promise.all([
      this.sights(id, reveal),
      this.prisma.findingSight.count({ where: { findingId: id } }),
      this.steps(id, reveal),
    ]);
    const { meaning } = CATEGORIES[row.category satisfies Category];
    return { ...toFinding(row, reveal), meaning, evidence: row.evidence, sights, sight_count: count, steps };
  }

  private async sights(id: string, reveal: boolean): Promise<FindingSight[]> {
    const where = { findingId: id };
    const rows = await this.prisma.findingSight.findMany({ where, orderBy: { id: 'desc' }, take: NEWEST_SIGHTS });
    const runs = await this.prisma.reconciliationRun.findMany({
      where: { id: { in: rows.map(({ runId }) => runId) }, historical: true },
      select: { id: true },
    });
    const lookedBack = new Set(runs.map((run) => run.id));
    const own = (value: string | null) => shown(value, reveal, maskContacts);
    return rows.map((row) => ({
      run_id: row.runId,
      seen_at: row.seenAt,
      historical: lookedBack.has(row.runId),
      impact_usd: row.impactUsd.toFixed(),
      fields: (row.fields as unknown as FieldDifference[]).map(({ field, ours, theirs }) => ({
        field,
        ours: own(ours),
        theirs: own(theirs),
      })),
      evidence: row.evidence as unknown as FindingEvidence,
    }));
  }

  private async steps(id: string, reveal: boolean): Promise<FindingStep[]> {
    const rows = await this.prisma.findingStep.findMany({
      where: { findingId: id },
      orderBy: [{ decidedAt: 'asc' }, { id: 'asc' }],
    });
    return rows.map((row) => ({
      id: row.id,
      state: row.state as State,
      reason: row.reason,
      impact_usd: row.impactUsd.toFixed(),
      run_id: row.runId,
      client_id: row.clientId,
      key_id: row.keyId,
      actor: shown(row.actor, reveal, maskContacts),
      decided_at: row.decidedAt,
    }));
  }
}
