import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiProduces, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { ReadingsService } from '../../history/access-log/readings.service';
import { Allow, Shows } from '../../access/auth/route-access';
import { mayReveal } from '../../access/auth/call';
import { SharesService } from '../../http/shares/shares.service';
import { HoldsPlace } from '../../http/shares/takes-turn';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { CSV_TYPE } from '../../http/answers/csv';
import { requireMayRead } from '../runs/may-read';
import { RunReader } from '../runs/run-reader';
import { CONTENT_SECURITY_POLICY } from './html/page';
import { Report, ReportEquation, ReportFormat, ReportSearch, ReportSource } from './report.dto';
import { ReportService } from './report.service';
import { ApiId, ApiSummary } from '../../platform/schema/routes';

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
    private readonly shares: SharesService,
  ) {}

  @Get(':id/report')
  @Allow('reconcile')
  @HoldsPlace('reports')
  @Shows('itself')
  @ApiSummary(
    'Read the report of a run',
    'The report shows findings as this run saw them, with their current states. `json` is ' +
      'complete. `csv` has one row for each finding, and you can send it back with decisions, like the file of ' +
      '`GET /v1/reconciliation/findings.csv`. `html` is one page without scripts or external resources, with the ' +
      '500 largest findings of each category.',
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
    const addsUp = format !== 'csv'; // the payouts, which takes most of the time
    const rests = addsUp && this.shares.isPaying;
    if (rests) request.call.restedMs = Infinity; // within the statement
    const states = await this.reports.states(run.id);
    const head = addsUp ? await this.reports.head(run, states, { reveal, rests }) : undefined;
    const rows = Object.values(states).reduce((sum, count) => sum + count, 0);
    await this.readings.record(request, { rows, about: { run_id: id }, people: false, compares: run.comparesPeople });
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
