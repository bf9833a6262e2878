import { Readable } from 'node:stream';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiProduces, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatedCall, Call, CurrentCall, mayReveal, maySeePeople } from '../../access/auth/call';
import { Allow, ShownHistory, Shows } from '../../access/auth/route-access';
import { ReadingsService } from '../../history/access-log/accesses.service';
import { csvAnswer } from '../../http/answers/csv';
import { HoldsSlot } from '../../http/quotas/turn-interceptors';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { FindingPage, FindingsCsvSearch, FindingSearch, FindingStep, FindingTimeline } from './findings.dto';
import { FindingsService, Reader } from './findings.service';

/** Describes a list of findings for the access log. Findings mask people. */
function showsFindings(findings: { call_id: string | null }[]): ShownHistory {
  return {
    rows: findings.length,
    callIds: [...new Set(findings.flatMap(({ call_id: id }) => id ?? []))],
    people: false,
  };
}

function showsFinding({ id, call_id: callId }: FindingTimeline): ShownHistory {
  return { rows: 1, about: { finding_id: id }, people: false, ...(callId !== null && { callId }) };
}

function readerOf(call: Call): Reader {
  return { seesPeople: maySeePeople(call), reveal: mayReveal(call) };
}

/** Shows the differences between our history and the upstream's. */
@ApiTags('Reconciliation')
@ApiExtraModels(FindingStep)
@Controller('v1/reconciliation')
export class FindingsController {
  constructor(
    private readonly findings: FindingsService,
    private readonly readings: ReadingsService,
  ) {}

  @Get('findings')
  @Allow('reconcile')
  @Shows('itself')
  @ApiSummary(
    'List findings',
    'Without `state`, lists open and reopened findings. Without `audit:pii`, leaves out findings that only ' +
      'comparisons with recipients observed.',
  )
  @ApiResponse({ status: 200, type: FindingPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listFindings(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Query() search: FindingSearch,
  ): Promise<FindingPage> {
    const { shown, comparesPeople } = await this.findings.search(search, readerOf(call));
    await this.readings.record(request, { ...showsFindings(shown.findings), compares: comparesPeople });
    return shown;
  }

  @Get('findings.csv')
  @Allow('reconcile')
  @HoldsSlot('reports')
  @Shows('itself')
  @ApiSummary(
    'Export findings to decide them in a spreadsheet',
    'With the filters of the list, newest first. Fill in the columns `decision` (explained, resolved, ' +
      'accepted or reopened) and `reason`, and send the file to ' +
      '`POST /v1/reconciliation/findings/decisions.csv`. A cell that a spreadsheet would read as a formula ' +
      'gets a leading apostrophe.',
  )
  @ApiProduces('text/csv')
  @ApiResponse({
    status: 200,
    description: 'The findings, with a byte order mark.',
    schema: { type: 'string' },
  })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async exportFindings(
    @Req() request: FastifyRequest,
    @Query() search: FindingsCsvSearch,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const reader = readerOf(request.call);
    const { shown, comparesPeople } = await this.findings.count(search, reader);
    await this.readings.record(request, { rows: shown, people: false, compares: comparesPeople });
    return csvAnswer(reply, 'payout-proxy-findings.csv', this.findings.csv(search, reader));
  }

  @Get('findings/:id')
  @Allow('reconcile')
  @Shows('itself')
  @ApiSummary('Read a finding', 'With its evidence, its state in each run, and its decisions.')
  @ApiId("The finding's ID.")
  @ApiResponse({ status: 200, type: FindingTimeline, description: 'The finding.' })
  @ApiKeyProblems('finding_not_found')
  async readFinding(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Param('id') id: string,
  ): Promise<FindingTimeline> {
    const finding = isUuid(id) ? await this.findings.one(id, readerOf(call)) : undefined;
    if (!finding) throw new Problem('finding_not_found');
    const { shown, comparesPeople } = finding;
    await this.readings.record(request, { ...showsFinding(shown), compares: comparesPeople });
    return shown;
  }
}
