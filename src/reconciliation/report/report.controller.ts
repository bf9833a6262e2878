import { Readable } from 'node:stream';
import { Injectable, Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiProduces, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { Decimal } from 'decimal.js';
import { FastifyReply, FastifyRequest } from 'fastify';
import { mayReveal } from '../../access/auth/call';
import { Allow, Shows } from '../../access/auth/route-access';
import { ReadingsService } from '../../history/access-log/accesses.service';
import { shown } from '../../history/records/view';
import { SummaryService } from '../../history/search/summary.service';
import { DelimiterName, CSV_TYPE } from '../../http/answers/csv';
import { QuotasService } from '../../http/quotas/quotas.service';
import { HoldsSlot } from '../../http/quotas/turn-interceptors';
import { clock } from '../../platform/database/clock';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { maskContacts } from '../../platform/privacy/contacts';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { CATEGORIES, CATEGORY_NAMES } from '../findings/categories';
import {
  FindingRow,
  readLargestOfRun,
  readObservationsOfRun,
  readStatesOfRun,
  sumAges,
} from '../findings/findings-reader';
import { FINDINGS_TABLE, toFinding } from '../findings/findings.service';
import { TotalsRecord } from '../matching/totals.dto';
import { Run, RunReader } from '../runs/run-reader';
import { toRecord, requireMayRead } from '../runs/run-record';
import { reportPage, CONTENT_SECURITY_POLICY } from './html/page';
import {
  Report,
  ReportFinding,
  ReportHead,
  ReportSource,
  ReportEquation,
  ReportFormat,
  ReportSearch,
} from './report.dto';

/** Findings held in memory at once. */
const BATCH = 1_000;

/** Maximum number of findings per category on a page, for human readers. */
const MOST_ON_PAGE = 500;

/** Reads the report of a run. */
@Injectable()
export class ReportService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly summaries: SummaryService,
  ) {}

  /** Counts the findings of a run by their states. */
  async states(runId: string): Promise<ReportHead['states']> {
    return readStatesOfRun(this.prisma, runId);
  }

  /**
   * @param states findings per state, from `states`.
   * @param rests whether payments need the database meanwhile.
   */
  async head(
    run: Run,
    states: ReportHead['states'],
    { reveal, rests }: { reveal: boolean; rests: boolean },
  ): Promise<ReportHead> {
    const record = toRecord(run, reveal);
    const { account, from, to } = run;
    const [source, payouts, ages, now] = await Promise.all([
      this.source(record.read_id, reveal),
      this.summaries.sumsOf(account, from, to, rests),
      sumAges(this.prisma, { account }),
      this.prisma.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`,
    ]);
    const { totals } = record;
    const ageing = ages.map(({ age: days, ...sums }) => ({ days, ...sums }));
    const written = { written_at: now[0]?.now ?? clock.now(), run: record, source };
    return { ...written, equation: totals && equationOf(totals), payouts, states, ageing };
  }

  async *json(head: ReportHead, reveal: boolean): AsyncGenerator<string, void> {
    yield `${JSON.stringify(head).slice(0, -1)},"findings":[`;
    let count = 0;
    for await (const rows of this.batches(head.run.id)) {
      const text = rows.map((row) => JSON.stringify(toReportFinding(row, reveal))).join(',\n');
      yield (count === 0 ? '\n' : ',\n') + text;
      count += rows.length;
    }
    yield `\n],"finding_count":${count}}\n`;
  }

  /** Reads the report without its findings. */
  sums(head: ReportHead, count: number): string[] {
    return [JSON.stringify({ ...head, findings: [], finding_count: count } satisfies Report)];
  }

  async *csv(runId: string, reveal: boolean, delimiter: DelimiterName): AsyncGenerator<string, void> {
    yield FINDINGS_TABLE.heading(delimiter);
    for await (const rows of this.batches(runId)) {
      const findings = rows.map((row) => toFinding(row, reveal));
      yield FINDINGS_TABLE.rows(findings, delimiter);
    }
  }

  /** Reads the largest findings of each category, for one page. */
  async *html(head: ReportHead, reveal: boolean): AsyncGenerator<string, void> {
    const page = reportPage(head);
    yield page.begin;
    for (const category of CATEGORY_NAMES) {
      const rows = await readLargestOfRun(this.prisma, head.run.id, category, MOST_ON_PAGE);
      if (rows.length > 0) {
        const findings = rows.map((row) => toFinding(row, reveal));
        yield page.section(category, findings);
      }
    }
    yield page.end;
  }

  private async *batches(runId: string): AsyncGenerator<FindingRow[], void> {
    let after: string | undefined;
    do {
      const rows = await readObservationsOfRun(this.prisma, runId, { after, limit: BATCH });
      if (rows.length > 0) yield rows;
      after = rows.length === BATCH ? rows.at(-1)?.id : undefined;
    } while (after !== undefined);
  }

  private async source(readId: string | null, reveal: boolean): Promise<ReportSource | null> {
    const [row] = await this.prisma.$queryRaw<ReportSource[]>`
      SELECT r.id::text AS read_id, r.source, r.subject, r.read_at, e.ended_at, e.rows::float8,
        encode(e.sha256, 'hex') AS sha256
      FROM source_read r LEFT JOIN source_read_end e ON e.read_id = r.id WHERE r.id = ${readId}::uuid`;
    return row ? { ...row, subject: shown(row.subject, reveal, maskContacts) } : null;
  }
}

function toReportFinding(row: FindingRow, reveal: boolean): ReportFinding {
  return { ...toFinding(row, reveal), meaning: CATEGORIES[row.category].meaning, evidence: row.evidence };
}

/**
 * States the equation of a run: the upstream's total minus ours is the findings, the differences within
 * tolerance, and a residual that must be zero.
 */
export function equationOf(totals: TotalsRecord): ReportEquation {
  const { ours, theirs, findings, within_tolerance_usd: tolerance, residual_usd: residual } = totals;
  const found = Object.values(findings.by_category).reduce((sum, { usd }) => sum.add(usd), new Decimal(0));
  return {
    upstream_usd: theirs.usd,
    ours_usd: ours.usd,
    difference_usd: new Decimal(theirs.usd).sub(ours.usd).toFixed(),
    findings_usd: found.toFixed(),
    within_tolerance_usd: tolerance,
    residual_usd: residual,
  };
}

const TYPES: Record<ReportFormat, string> = {
  json: 'application/json; charset=utf-8',
  csv: CSV_TYPE,
  html: 'text/html; charset=utf-8',
};
const TEXT = { schema: { type: 'string' } } as const;

/** Serves the report of a run as JSON, CSV or HTML. */
@ApiTags('Reconciliation')
@ApiExtraModels(ReportSource, ReportEquation)
@Controller('v1/reconciliation/runs')
export class ReportController {
  constructor(
    private readonly runs: RunReader,
    private readonly reports: ReportService,
    private readonly readings: ReadingsService,
    private readonly quotas: QuotasService,
  ) {}

  @Get(':id/report')
  @Allow('reconcile')
  @HoldsSlot('reports')
  @Shows('itself')
  @ApiSummary(
    'Read the report of a run',
    'The report shows findings as this run saw them, with their current states. `json` is complete. ' +
      '`csv` has one row for each finding, and you can send it back with decisions, like the file of ' +
      '`GET /v1/reconciliation/findings.csv`. `html` is one page without scripts or external resources. It ' +
      'has the 500 largest findings of each category.',
  )
  @ApiId("The run's ID.")
  @ApiProduces('application/json', 'text/csv', 'text/html')
  @ApiResponse({
    status: 200,
    description: 'The report.',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(Report) } },
      'text/csv': TEXT,
      'text/html': TEXT,
    },
  })
  @ApiExtraModels(Report)
  @ApiKeyProblems('invalid_request', 'run_not_found', 'run_not_ended', 'readers_busy')
  async readReconciliationReport(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query() { format = 'json', delimiter = 'comma', findings = 'all' }: ReportSearch,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const run = isUuid(id) ? await this.runs.one(id) : undefined;
    if (!run) throw new Problem('run_not_found');
    requireMayRead(run, request.call);
    if (!run.end) throw new Problem('run_not_ended');
    const reveal = mayReveal(request.call);
    const addsUp = format !== 'csv'; // Summing the payouts takes most of the time.
    const rests = addsUp && this.quotas.isPaying;
    if (rests) request.call.restedMs = Infinity; // Within the statement.
    const states = await this.reports.states(run.id);
    const head = addsUp ? await this.reports.head(run, states, { reveal, rests }) : undefined;
    const rows = Object.values(states).reduce((sum, count) => sum + count, 0);
    const compares = run.comparesPeople;
    await this.readings.record(request, { rows, about: { run_id: id }, people: false, compares });
    const name = `reconciliation-${run.from.toISOString().slice(0, 10)}-${run.id}.${format}`;
    void reply
      .header('content-type', TYPES[format])
      .header('content-disposition', `${format === 'html' ? 'inline' : 'attachment'}; filename="${name}"`);
    if (format === 'html') void reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
    const text = () => {
      if (head === undefined) return this.reports.csv(run.id, reveal, delimiter);
      if (format === 'html') return this.reports.html(head, reveal);
      return findings === 'none' ? this.reports.sums(head, rows) : this.reports.json(head, reveal);
    };
    return Readable.from(text(), { objectMode: false });
  }
}
