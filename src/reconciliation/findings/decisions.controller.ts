import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiConsumes, ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { bodyFault } from '../../http/validation/json-body';
import { FindingDecisions, FindingDecisionsDto, MAX_DECISIONS_BYTES } from './decisions.dto';
import { readDecisionsCsv } from './decisions-csv';
import { DecisionsService, PlacedDecision } from './decisions.service';

const WHO =
  'Scope `reconcile`. All of them or none: every fault is listed. Open and reopened findings become explained, resolved or ' +
  'accepted; those become reopened. A person accepts a difference, with a key that belongs to them (`X-Actor` does not count), ' +
  'and nobody who asked for the payment: another client, another key, another person.';

/** What is decided about findings. */
@ApiTags('Reconciliation')
@ApiSecurity('key')
@Controller('v1/reconciliation/findings')
export class DecisionsController {
  constructor(private readonly decisions: DecisionsService) {}

  @Post('decisions')
  @HttpCode(200)
  @Allow('reconcile')
  @RouteConfig({ maxBodyBytes: MAX_DECISIONS_BYTES })
  @Shows(({ decided }: FindingDecisions) => ({ rows: decided, people: false }))
  @ApiOperation({ summary: 'Decide about findings', operationId: 'decideFindings', description: WHO })
  @ApiResponse({ status: 200, type: FindingDecisions, description: 'They are decided.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'finding_changed')
  async decide(
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
  @ApiOperation({
    summary: 'Decide about findings by a spreadsheet',
    operationId: 'decideFindingsByCsv',
    description:
      `${WHO} The body is the file of \`GET /v1/reconciliation/findings.csv\` with \`decision\` and \`reason\` filled in: with ` +
      'commas, semicolons or tabs, in UTF-8, UTF-16 or Windows-1252, with rows and columns in any order. Only ' +
      '`finding_id`, `decision`, `reason` and `version` are read; without `version`, what changed meanwhile is decided about ' +
      'all the same. Rows without a decision are left as they are. A fault names its row as spreadsheets count, the heading ' +
      'being row 1.',
  })
  @ApiConsumes('text/csv')
  @ApiBody({ schema: { type: 'string' } })
  @ApiResponse({ status: 200, type: FindingDecisions, description: 'They are decided.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'finding_changed')
  async decideByCsv(
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

/** @throws Problem `invalid_request`, where it is too long or no CSV was sent. */
async function bytesOf(body: unknown): Promise<Buffer> {
  if (!(body instanceof Readable)) throw bodyFault('must be CSV, with Content-Type: text/csv');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > MAX_DECISIONS_BYTES) throw bodyFault(`has more than ${MAX_DECISIONS_BYTES} bytes; send it in parts`);
  }
  return Buffer.concat(chunks);
}
