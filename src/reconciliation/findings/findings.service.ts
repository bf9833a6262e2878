import { Injectable } from '@nestjs/common';
import { rowsToRead, idBefore, toPage } from '../../platform/schema/page';
import { maskContacts } from '../../history/records/masking';
import { shown } from '../../history/records/view';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { CATEGORIES, Category } from './categories';
import { FINDINGS_TABLE, toFinding, toSight } from './present';
import { FindingPage, FindingsCsvSearch, FindingSearch, FindingStep, FindingStory, State } from './findings.dto';
import { countFindings, FindingFilters, readFindings, readComparesPeople, readSightsBy } from './read';

/** The number of runs shown. An hourly job can see a finding very often, and nobody reads more. */
const NEWEST_SIGHTS = 100;

/** The number of rows that an export holds in memory at once. */
const BATCH = 1_000;

/** What a reader may see. */
export interface Reader {
  /** Whether findings of runs that compare recipients are shown (`audit:pii`). */
  seesPeople: boolean;
  /** Whether people are shown unmasked. */
  reveal: boolean;
}

/** What is shown, and whether it tells who was paid. */
interface Told<Shown> {
  shown: Shown;
  comparesPeople: boolean;
}

/** Lists, reads and exports findings. */
@Injectable()
export class FindingsService {
  constructor(private readonly prisma: ReaderPrisma) {}

  async search({ page_size, page_token, ...filters }: FindingSearch, reader: Reader): Promise<Told<FindingPage>> {
    const request = { ...(page_size && { page_size }), ...(page_token !== undefined && { page_token }) };
    const { seesPeople } = reader;
    const place = { before: idBefore(request), limit: rowsToRead(request) };
    const found = await readFindings(this.prisma, { filters, seesPeople }, place);
    const { rows, nextPageToken } = toPage(found, request);
    const shown = { findings: rows.map((row) => toFinding(row, reader.reveal)), next_page_token: nextPageToken };
    const comparesPeople = rows.some((row) => row.compares_people) || (await this.isOfNamed(filters, reader));
    return { shown, comparesPeople };
  }

  /** Returns how many rows the CSV will have, as far as is known now. */
  async count(filters: FindingFilters, reader: Reader): Promise<Told<number>> {
    const { seesPeople } = reader;
    const { count, comparesPeople } = await countFindings(this.prisma, { filters, seesPeople });
    return { shown: count, comparesPeople: comparesPeople || (await this.isOfNamed(filters, reader)) };
  }

  /** Streams the rows in constant memory. */
  async *csv({ delimiter = 'comma', ...filters }: FindingsCsvSearch, reader: Reader): AsyncGenerator<string, void> {
    const { seesPeople, reveal } = reader;
    yield FINDINGS_TABLE.heading(delimiter);
    let before: string | undefined;
    do {
      const rows = await readFindings(this.prisma, { filters, seesPeople }, { before, limit: BATCH });
      const findings = rows.map((row) => toFinding(row, reveal));
      if (findings.length > 0) yield FINDINGS_TABLE.rows(findings, delimiter);
      before = rows.length === BATCH ? rows.at(-1)?.id : undefined;
    } while (before !== undefined);
  }

  async one(id: string, { seesPeople, reveal }: Reader): Promise<Told<FindingStory> | undefined> {
    const filters = { id, state: 'any' } as const;
    const [row] = await readFindings(this.prisma, { filters, seesPeople }, { limit: 1 });
    if (!row) return undefined;
    const [{ rows: sights, count }, steps] = await Promise.all([
      readSightsBy(this.prisma, { id, seesPeople }, NEWEST_SIGHTS),
      this.steps(id, reveal),
    ]);
    const { meaning } = CATEGORIES[row.category satisfies Category];
    const seen = { sights: sights.map((sight) => toSight(sight, reveal)), sight_count: count };
    const shown = { ...toFinding(row, reveal), meaning, evidence: row.evidence, ...seen, steps };
    return { shown, comparesPeople: sights.some((sight) => sight.compares_people) };
  }

  /** Whether the filters name a run that compares recipients. Even an empty page then tells that nothing differs. */
  private async isOfNamed({ run_id: runId }: FindingFilters, { seesPeople }: Reader): Promise<boolean> {
    return runId !== undefined && seesPeople && (await readComparesPeople(this.prisma, runId));
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
