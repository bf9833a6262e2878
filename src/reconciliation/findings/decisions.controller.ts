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
import { readBounded } from '../../platform/bounded-body';
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
  LocatedDecision,
} from './decisions.dto';
import { versionOf } from './findings.service';

interface LocatedFault extends Fault {
  code: ProblemCode;
}

const OWN =
  'You cannot accept a difference of your own payment. Accepting requires another client, another key, and ' +
  'another person.';

const CLOSED: ReadonlySet<FindingState> = new Set(['explained', 'resolved', 'accepted']);

function repetitions(decisions: LocatedDecision[]): LocatedFault[] {
  const first = new Map<string, LocatedDecision>();
  return decisions.flatMap((decision) => {
    const { finding_id: id, pointer, prefix } = decision;
    const before = first.get(id);
    first.set(id, before ?? decision);
    const detail = `${prefix}the finding is already decided at ${before?.pointer}; decide it once`;
    return before ? [invalid({ pointer: `${pointer}/finding_id`, detail })] : [];
  });
}

function faultsOf(
  decision: LocatedDecision,
  finding: FindingNow | undefined,
  decider: Decider,
): LocatedFault[] {
  const { state, version, pointer, prefix } = decision;
  const fault = (field: string, code: ProblemCode, detail: string): LocatedFault => ({
    code,
    pointer: `${pointer}/${field}`,
    detail: `${prefix}${detail}`,
  });
  if (!finding) return [fault('finding_id', 'invalid_request', 'there is no finding with this ID')];
  const faults: LocatedFault[] = [];
  if (version !== undefined && version !== versionOf(finding.stepId, finding.impactUsd)) {
    const now = `it is now ${finding.state} with an impact of ${finding.impactUsd} US dollars`;
    const detail = `the finding has changed since you read it: ${now}; read it again`;
    faults.push(fault('version', 'finding_changed', detail));
  }
  const wrong = wrongStep(finding.state, state);
  if (wrong) faults.push(fault('state', 'finding_changed', wrong));
  if (state === 'accepted') {
    const refused = refusedAcceptance(decider, finding);
    if (refused) faults.push(fault('state', refused.code, refused.detail));
  }
  return faults;
}

/** Returns the reason against a state change. Undefined if it is allowed. */
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
    const detail = 'only a person can accept a difference, with a personal key.';
    return { code: 'invalid_request', detail: `${detail} ${needsPersonalKey(clientName)}` };
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

function invalid(fault: Fault): LocatedFault {
  return { ...fault, code: 'invalid_request' };
}

/** Error codes in the order in which the caller corrects them. */
const BY_PRECEDENCE: ProblemCode[] = ['invalid_request', 'own_approval', 'finding_changed'];

function refuse(found: LocatedFault[]): void {
  const code = BY_PRECEDENCE.find((each) => found.some((fault) => fault.code === each));
  if (code === undefined) return;
  const faults = found.map(({ pointer, detail }) => ({ pointer, detail }));
  throw new Problem(code, { faults, ...(code === 'own_approval' && { text: OWN }) });
}

const DECISION_RULES =
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
  @ApiSummary('Decide findings', DECISION_RULES)
  @ApiResponse({ status: 200, type: FindingDecisions, description: 'The decisions were recorded.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'finding_changed')
  async decideFindings(
    @CurrentCall() call: AuthenticatedCall,
    @Body() { decisions }: FindingDecisionsDto,
  ): Promise<FindingDecisions> {
    const located = decisions.map((decision, index) => ({
      ...decision,
      finding_id: decision.finding_id.toLowerCase(),
      pointer: `/decisions/${index}`,
      prefix: '',
    }));
    await this.record(call, located);
    return answer(located, 0);
  }

  @Post('decisions.csv')
  @HttpCode(200)
  @Allow('reconcile')
  @RouteConfig({ takesCsv: true })
  @Shows(({ decided }: FindingDecisions) => ({ rows: decided, people: false }))
  @ApiSummary(
    'Decide findings with a spreadsheet',
    `${DECISION_RULES} The body is the file of \`GET /v1/reconciliation/findings.csv\` with \`decision\` ` +
      'and `reason` filled in. It may use commas, semicolons or tabs, UTF-8, UTF-16 or Windows-1252, and ' +
      'any order of rows and columns. Only `finding_id`, `decision`, `reason` and `version` are read. ' +
      'Without `version`, a decision also applies to a finding that has changed since. Rows without a ' +
      'decision are skipped. An error names the row as a spreadsheet counts it: the heading is row 1.',
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
    decisions: LocatedDecision[],
    faults: Fault[] = [],
  ): Promise<void> {
    const known = [...faults.map((fault) => invalid(fault)), ...repetitions(decisions)];
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

function answer(decisions: LocatedDecision[], ignored: number): FindingDecisions {
  const findings = decisions.map(({ finding_id, state }) => ({ finding_id, state }));
  return { decided: decisions.length, ignored, findings };
}

/** @throws Problem `invalid_request` if the body is too long or not CSV. */
async function bytesOf(body: unknown): Promise<Buffer> {
  if (!(body instanceof Readable)) throw bodyFault('must be CSV, with Content-Type: text/csv');
  const bytes = await readBounded(body, MAX_DECISIONS_BYTES);
  if (!bytes) throw bodyFault(`must not exceed ${MAX_DECISIONS_BYTES} bytes; send it in parts`);
  return bytes;
}
