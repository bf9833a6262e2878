import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { shown } from '../../history/records/view';
import { Cell, CsvTable } from '../../http/answers/csv';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { maskContacts } from '../../platform/privacy/contacts';
import { rowsToRead, idBefore, toPage } from '../../platform/schema/page';
import { CATEGORIES, Category } from './categories';
import {
  FindingRow,
  ObservationRow,
  countFindings,
  FindingFilters,
  readFindings,
  readComparesPeople,
  readObservations,
  readSteps,
  StepRow,
} from './findings-reader';
import {
  FindingField,
  FindingRecord,
  FindingSight,
  FindingStep,
  FindingPage,
  FindingsCsvSearch,
  FindingSearch,
  FindingTimeline,
} from './findings.dto';

/**
 * Converts a finding for the API.
 * @param reveal whether the reader may see people. IDs of upstreams and callers may contain contacts.
 */
export function toFinding(
  { now_usd: nowUsd, evidence: _, compares_people: __, ...row }: FindingRow,
  reveal: boolean,
): FindingRecord {
  const { severity, title, action } = CATEGORIES[row.category];
  return {
    ...row,
    severity,
    title,
    suggested_action: action,
    subject: shown(row.subject, reveal, maskContacts),
    fields: toFields(row.fields, reveal),
    upstream_ref: shown(row.upstream_ref, reveal, maskContacts),
    upstream_id: shown(row.upstream_id, reveal, maskContacts),
    batch_ref: shown(row.batch_ref, reveal, maskContacts),
    last_step: row.last_step && toStep(row.last_step, reveal),
    version: versionOf(row.last_step?.id ?? null, nowUsd),
  };
}

function toObservation({ compares_people: _, ...row }: ObservationRow, reveal: boolean): FindingSight {
  return { ...row, fields: toFields(row.fields, reveal) };
}

function toFields(fields: FindingField[], reveal: boolean): FindingField[] {
  const own = (value: string | null) => shown(value, reveal, maskContacts);
  return fields.map(({ field, ours, theirs }) => ({ field, ours: own(ours), theirs: own(theirs) }));
}

function toStep(step: StepRow, reveal: boolean): FindingStep {
  const actor = shown(step.actor, reveal, maskContacts);
  return { ...step, actor, decided_at: new Date(step.decided_at) };
}

/**
 * Returns a token that changes with each decision and each change of the impact. A decision with an outdated
 * token is rejected. The token begins with a letter, so that spreadsheets do not read it as a number.
 * @param stepId ID of the finding's latest decision. Null if undecided.
 */
export function versionOf(stepId: string | null, impactUsd: string): string {
  const digest = createHash('sha256')
    .update(`${stepId ?? 'none'} ${impactUsd}`)
    .digest('hex');
  return `v${digest.slice(0, 12)}`;
}

/** Columns: two to fill in, the identifiers, and context for the decision. */
export const FINDINGS_TABLE = new CsvTable<FindingRecord>({
  finding_id: ({ id }) => id,
  decision: () => null,
  reason: () => null,
  state: ({ state }) => state,
  severity: ({ severity }) => severity,
  category: ({ category }) => category,
  impact_usd: ({ impact_usd }) => amount(impact_usd),
  field: ({ fields }) => joined(fields.map(({ field }) => field)),
  ours: ({ fields }) => joined(fields.map(({ ours }) => ours ?? '(none)')),
  theirs: ({ fields }) => joined(fields.map(({ theirs }) => theirs ?? '(none)')),
  occurred_at: ({ occurred_at }) => occurred_at.toISOString(),
  found_at: ({ found_at }) => found_at.toISOString(),
  age_days: ({ age_days }) => age_days,
  call_id: ({ call_id }) => call_id,
  position: ({ position }) => position,
  upstream_ref: ({ upstream_ref }) => upstream_ref,
  upstream_id: ({ upstream_id }) => upstream_id,
  batch_ref: ({ batch_ref }) => batch_ref,
  wallet_id: ({ wallet_id }) => wallet_id,
  account: ({ account }) => account,
  subject: ({ subject }) => subject,
  last_reason: ({ last_step }) => last_step?.reason ?? null,
  last_actor: ({ last_step }) => last_step?.actor ?? null,
  suggested_action: ({ suggested_action }) => suggested_action,
  seen_at: ({ seen_at }) => seen_at.toISOString(),
  version: ({ version }) => version,
});

/** Returns an amount as a number for spreadsheets to sum, or as text if a number would be inexact. */
function amount(usd: string): Cell {
  return String(Number(usd)) === usd ? Number(usd) : usd;
}

function joined(values: string[]): string {
  return values.join('; ');
}

/** Maximum number of observations shown. Hourly runs can observe a finding thousands of times. */
const MAX_OBSERVATIONS = 100;

/** Rows that an export holds in memory at once. */
const BATCH = 1_000;

/** Permissions of a reader. */
export interface Reader {
  /** Whether the reader sees findings of comparisons of recipients (`audit:pii`). */
  seesPeople: boolean;
  /** Whether people are unmasked. */
  reveal: boolean;
}

/** A result, and whether it reveals recipients of payments. */
interface AuditedResult<Shown> {
  shown: Shown;
  comparesPeople: boolean;
}

/** Lists, reads and exports findings. */
@Injectable()
export class FindingsService {
  constructor(private readonly prisma: ReaderPrisma) {}

  async search(
    { page_size, page_token, ...filters }: FindingSearch,
    reader: Reader,
  ): Promise<AuditedResult<FindingPage>> {
    const request = { ...(page_size && { page_size }), ...(page_token !== undefined && { page_token }) };
    const { seesPeople } = reader;
    const range = { before: idBefore(request), limit: rowsToRead(request) };
    const found = await readFindings(this.prisma, { filters, seesPeople }, range);
    const { rows, nextPageToken } = toPage(found, request);
    const shown = {
      findings: rows.map((row) => toFinding(row, reader.reveal)),
      next_page_token: nextPageToken,
    };
    const comparesPeople = rows.some((row) => row.compares_people) || (await this.isOfNamed(filters, reader));
    return { shown, comparesPeople };
  }

  /** Returns the present number of rows of the CSV. */
  async count(filters: FindingFilters, reader: Reader): Promise<AuditedResult<number>> {
    const { seesPeople } = reader;
    const { count, comparesPeople } = await countFindings(this.prisma, { filters, seesPeople });
    return { shown: count, comparesPeople: comparesPeople || (await this.isOfNamed(filters, reader)) };
  }

  /** Streams the rows in constant memory. */
  async *csv(
    { delimiter = 'comma', ...filters }: FindingsCsvSearch,
    reader: Reader,
  ): AsyncGenerator<string, void> {
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

  async one(id: string, { seesPeople, reveal }: Reader): Promise<AuditedResult<FindingTimeline> | undefined> {
    const filters = { id, state: 'any' } as const;
    const [row] = await readFindings(this.prisma, { filters, seesPeople }, { limit: 1 });
    if (!row) return undefined;
    const [{ rows: observations, count }, steps] = await Promise.all([
      readObservations(this.prisma, { id, seesPeople }, MAX_OBSERVATIONS),
      readSteps(this.prisma, id),
    ]);
    const { meaning } = CATEGORIES[row.category satisfies Category];
    const sights = observations.map((observation) => toObservation(observation, reveal));
    const shown = {
      ...toFinding(row, reveal),
      meaning,
      evidence: row.evidence,
      sights,
      sight_count: count,
      steps: steps.map((step) => toStep(step, reveal)),
    };
    return { shown, comparesPeople: observations.some((observation) => observation.compares_people) };
  }

  /**
   * Returns whether the filters name a run that compares recipients. Even its empty page reveals something.
   */
  private async isOfNamed({ run_id: runId }: FindingFilters, { seesPeople }: Reader): Promise<boolean> {
    return runId !== undefined && seesPeople && (await readComparesPeople(this.prisma, runId));
  }
}
