import { Readable } from 'node:stream';
import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiConsumes, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyRequest } from 'fastify';
import { AuthenticatedCall, authorOf, CurrentCall } from '../../access/auth/call';
import {
  Decider,
  FourEyesService,
  needsPersonalKey,
  requireAnotherPerson,
} from '../../access/auth/four-eyes';
import { Allow, Shows } from '../../access/auth/route-access';
import { bodyFault } from '../../http/validation/json-body';
import {
  FindingNow,
  FindingState,
  insertFindingSteps,
  NewStep,
  StepState,
} from '../../journal/reconciliation/finding-steps';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Fault, Problem } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';
import { ApiSummary } from '../../platform/schema/routes';
import { readDecisionsCsv } from './decisions-csv';
import {
  FindingDecisions,
  FindingDecisionsDto,
  MAX_DECISIONS,
  MAX_DECISIONS_BYTES,
  PlacedDecision,
} from './decisions.dto';
import { versionOf } from './findings.service';

interface PlacedFault extends Fault {
  code: ProblemCode;
}

const OWN =
  'You cannot accept a difference of your own payment. Accepting requires another client, another key, and ' +
  'another person.';

const CLOSED: ReadonlySet<FindingState> = new Set(['explained', 'resolved', 'accepted']);

function repeated(decisions: PlacedDecision[]): PlacedFault[] {
  const first = new Map<string, PlacedDecision>();
  return decisions.flatMap((decision) => {
    const { finding_id: id, pointer, where } = decision;
    const before = first.get(id);
    first.set(id, before ?? decision);
    const detail = `${where}the finding is already decided at ${before?.pointer}; decide it once`;
    return before ? [invalid({ pointer: `${pointer}/finding_id`, detail })] : [];
  });
}

function faultsOf(
  decision: PlacedDecision,
  finding: FindingNow | undefined,
  decider: Decider,
): PlacedFault[] {
  const { state, version, pointer, where } = decision;
  const at = (field: string, code: ProblemCode, detail: string): PlacedFault => ({
    code,
    pointer: `${pointer}/${field}`,
    detail: `${where}${detail}`,
  });
  if (!finding) return [at('finding_id', 'invalid_request', 'there is no finding with this ID')];
  const faults: PlacedFault[] = [];
  if (version !== undefined && version !== versionOf(finding.stepId, finding.impactUsd)) {
    const now = `it is now ${finding.state} with an impact of ${finding.impactUsd} US dollars`;
    faults.push(
      at('version', 'finding_changed', `the finding has changed since you read it: ${now}; read it again`),
    );
  }
  const wrong = wrongStep(finding.state, state);
  if (wrong) faults.push(at('state', 'finding_changed', wrong));
  if (state === 'accepted') {
    const refused = refusedAcceptance(decider, finding);
    if (refused) faults.push(at('state', refused.code, refused.detail));
  }
  return faults;
}

/** Returns why a state change is not allowed. Undefined if it is. */
function wrongStep(from: FindingState, to: StepState): string | undefined {
  if (from === to) return `the finding is already ${from}`;
  if (to === 'reopened')
    return from === 'open' ? 'the finding is open, so there is no decision to reopen' : undefined;
  return CLOSED.has(from) ? `the finding is ${from}; reopen it first to change the decision` : undefined;
}

/**
 * Requires a person other than the payment's requester, because an accepted loss is not investigated again.
 */
function refusedAcceptance(
  decider: Decider,
  { requester }: FindingNow,
): { code: ProblemCode; detail: string } | undefined {
  const { identity, clientName } = decider.call.caller;
  if (identity === null) {
    const detail = `only a person can accept a difference, with a personal key. ${needsPersonalKey(clientName)}`;
    return { code: 'invalid_request', detail };
  }
  if (requester === null) return undefined;
  try {
    requireAnotherPerson(decider, requester, OWN);
    return undefined;
  } catch (problem) {
    const { code, message } = problem as Problem;
    return { code, detail: message };
  }
}

function invalid(fault: Fault): PlacedFault {
  return { ...fault, code: 'invalid_request' };
}

/** Error codes, the first to correct at the front. */
const WORST: ProblemCode[] = ['invalid_request', 'own_approval', 'finding_changed'];

function refuse(found: PlacedFault[]): void {
  const code = WORST.find((each) => found.some((fault) => fault.code === each));
  if (code === undefined) return;
  const faults = found.map(({ pointer, detail }) => ({ pointer, detail }));
  throw new Problem(code, { faults, ...(code === 'own_approval' && { text: OWN }) });
}

const WHO =
  'All decisions are recorded, or none. The error lists every fault. An open or reopened finding can ' +
  'become explained, resolved or accepted, and one of these can become reopened. Accepting requires a ' +
  'personal key (`X-Actor` does not count), and a client, a key and a person other than those that ' +
  'requested the payment.';

/** Checks and records decisions about findings. */
@ApiTags('Reconciliation')
@Controller('v1/reconciliation/findings')
export class DecisionsController {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly fourEyes: FourEyesService,
  ) {}

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
    await this.record(call, placed);
    return answer(placed, 0);
  }

  @Post('decisions.csv')
  @HttpCode(200)
  @Allow('reconcile')
  @RouteConfig({ takesCsv: true })
  @Shows(({ decided }: FindingDecisions) => ({ rows: decided, people: false }))
  @ApiSummary(
    'Decide findings with a spreadsheet',
    `${WHO} The body is the file of \`GET /v1/reconciliation/findings.csv\` with \`decision\` and ` +
      `\`reason\` filled ` +
      'in. It may use commas, semicolons or tabs, UTF-8, UTF-16 or Windows-1252, and any order of rows and ' +
      'columns. Only `finding_id`, `decision`, `reason` and `version` are read. Without `version`, a ' +
      'decision also applies to a finding that has changed since. Rows without a decision are skipped. An ' +
      'error names the row as a spreadsheet counts it: the heading is row 1.',
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
    await this.record(call, decisions, faults);
    return answer(decisions, ignored);
  }

  /**
   * Records all decisions or none.
   * @param faults faults found while reading the file. The error lists them too.
   * @throws Problem `invalid_request`, `own_approval` or `finding_changed`, with every fault.
   */
  private async record(
    call: AuthenticatedCall,
    decisions: PlacedDecision[],
    faults: Fault[] = [],
  ): Promise<void> {
    const known = [...faults.map((fault) => invalid(fault)), ...repeated(decisions)];
    const steps: NewStep[] = decisions.map(({ finding_id, state, reason }) => ({
      findingId: finding_id,
      state,
      reason,
    }));
    const decider = await this.fourEyes.deciderOf(call);
    await insertFindingSteps(this.prisma, steps, authorOf(call), (findings) => {
      const found = decisions.flatMap((decision) =>
        faultsOf(decision, findings.get(decision.finding_id), decider),
      );
      refuse([...known, ...found]);
    });
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
    if (length > MAX_DECISIONS_BYTES)
      throw bodyFault(`must not exceed ${MAX_DECISIONS_BYTES} bytes; send it in parts`);
  }
  return Buffer.concat(chunks);
}
