import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiConsumes, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { bodyFault } from '../../http/validation/json-body';
import { FindingDecisions, FindingDecisionsDto, MAX_DECISIONS, MAX_DECISIONS_BYTES } from './decisions.dto';
import { readDecisionsCsv } from './decisions-csv';
import { DecisionsService, PlacedDecision } from './decisions.service';
import { ApiSummary } from '../../platform/schema/routes';

const WHO =
  'All decisions are recorded, or none. The error lists every fault. An open or reopened ' +
  'finding can become explained, resolved or accepted, and one of these can become reopened. Accepting requires a ' +
  'personal key (`X-Actor` does not count), and a client, a key and a person other than those that requested the ' +
  'payment.';

/** Records decisions about findings. */
@ApiTags('Reconciliation')
@Controller('v1/reconciliation/findings')
export class DecisionsController {
  constructor(private readonly decisions: DecisionsService) {}

  @Post('decisions')
  @HttpCode(200)
  @Allow('reconcile')
  @RouteConfig({ maxBodyBytes: MAX_DECISIONS_BYTES, maxListItems: MAX_DECISIONS })
  @Shows(({ decided }: FindingDecisions) => ({ rows: decided, people: false }))
  @ApiSummary('Decide findings', WHO)
  @ApiResponse({ status: 200, type: FindingDecisions, description: 'The decisions were recorded.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'finding_changed')
  async decideFindings(
    @CurrentCall() call: AuthenticatedCall,
    @Body() { decisions }: FindingDecisionsDto,
  ): Promise<FindingDecisions> {
    const placed = decisions.map((decision, index) => ({
      ...decision,
      finding_id: decision.finding_id.toLowerCase(),
      pointer: `/decisions/${index}`,
      where: '',
    }));
    await this.decisions.decide(call, placed);
    return answer(placed, 0);
  }

  @Post('decisions.csv')
  @HttpCode(200)
  @Allow('reconcile')
  @RouteConfig({ takesCsv: true })
  @Shows(({ decided }: FindingDecisions) => ({ rows: decided, people: false }))
  @ApiSummary(
    'Decide findings with a spreadsheet',
    `${WHO} The body is the file of \`GET /v1/reconciliation/findings.csv\` with \`decision\` and \`reason\` filled ` +
      'in. It may use commas, semicolons or tabs, UTF-8, UTF-16 or Windows-1252, and any order of rows and ' +
      'columns. Only `finding_id`, `decision`, `reason` and `version` are read. Without `version`, a decision also ' +
      'applies to a finding that has changed since. Rows without a decision are skipped. An error names the row as ' +
      'a spreadsheet counts it: the heading is row 1.',
  )
  @ApiConsumes('text/csv')
  @ApiBody({ schema: { type: 'string' } })
  @ApiResponse({ status: 200, type: FindingDecisions, description: 'The decisions were recorded.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'finding_changed')
  async decideFindingsByCsv(
    @CurrentCall() call: AuthenticatedCall,
    @Req() { body }: FastifyRequest,
  ): Promise<FindingDecisions> {
    const { decisions, faults, ignored } = readDecisionsCsv(await bytesOf(body));
    await this.decisions.decide(call, decisions, faults);
    return answer(decisions, ignored);
  }
}

function answer(decisions: PlacedDecision[], ignored: number): FindingDecisions {
  const findings = decisions.map(({ finding_id, state }) => ({ finding_id, state }));
  return { decided: decisions.length, ignored, findings };
}

/** @throws Problem `invalid_request` if the body is too long or not CSV. */
async function bytesOf(body: unknown): Promise<Buffer> {
  if (!(body instanceof Readable)) throw bodyFault('must be CSV, with Content-Type: text/csv');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > MAX_DECISIONS_BYTES) throw bodyFault(`must not exceed ${MAX_DECISIONS_BYTES} bytes; send it in parts`);
  }
  return Buffer.concat(chunks);
}
