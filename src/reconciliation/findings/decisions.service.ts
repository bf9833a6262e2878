import { Injectable } from '@nestjs/common';
import { AuthenticatedCall } from '../../access/auth/call';
import { needsPersonalKey, requireSomebodyElse } from '../../access/auth/four-eyes';
import { PrismaService } from '../../platform/database/prisma.service';
import { Fault, Problem } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';
import { FindingNow, FindingState, insertFindingSteps, NewStep, StepState } from '../../journal/finding-steps';
import { versionOf } from './version';

/** One decision of many, and where it stands, for its faults. */
export interface PlacedDecision {
  finding_id: string;
  state: StepState;
  reason: string;
  version?: string | undefined;
  /** JSON pointer. */
  pointer: string;
  /** How a fault begins: `row 17: `. */
  where: string;
}

interface PlacedFault extends Fault {
  code: ProblemCode;
}

const OWN =
  'Nobody accepts a difference of a payment that they asked for themselves: this needs another client, another key and another person.';

const CLOSED: ReadonlySet<FindingState> = new Set(['explained', 'resolved', 'accepted']);

/** Decides about findings. */
@Injectable()
export class DecisionsService {
  constructor(private readonly prisma: PrismaService) {}

  /**
   * All or nothing.
   * @param faults that are known already: they are told with all others.
   * @throws Problem `invalid_request`, `own_approval` or `finding_changed`, with every fault.
   */
  async decide(call: AuthenticatedCall, decisions: PlacedDecision[], faults: Fault[] = []): Promise<void> {
    const { clientId, keyId, person } = call.caller;
    const known = [...faults.map((fault) => invalid(fault)), ...repeated(decisions)];
    const steps: NewStep[] = decisions.map(({ finding_id, state, reason }) => ({
      findingId: finding_id,
      state,
      reason,
    }));
    await insertFindingSteps(this.prisma, steps, { clientId, keyId, actor: person }, (findings) => {
      const found = decisions.flatMap((decision) => faultsOf(decision, findings.get(decision.finding_id), call));
      refuse([...known, ...found]);
    });
  }
}

function repeated(decisions: PlacedDecision[]): PlacedFault[] {
  const first = new Map<string, PlacedDecision>();
  return decisions.flatMap((decision) => {
    const { finding_id: id, pointer, where } = decision;
    const before = first.get(id);
    first.set(id, before ?? decision);
    const detail = `${where}the same finding is decided about at ${before?.pointer}; decide once`;
    return before ? [invalid({ pointer: `${pointer}/finding_id`, detail })] : [];
  });
}

function faultsOf(decision: PlacedDecision, finding: FindingNow | undefined, call: AuthenticatedCall): PlacedFault[] {
  const { state, version, pointer, where } = decision;
  const at = (field: string, code: ProblemCode, detail: string): PlacedFault => ({
    code,
    pointer: `${pointer}/${field}`,
    detail: `${where}${detail}`,
  });
  if (!finding) return [at('finding_id', 'invalid_request', 'there is no finding with this id')];
  const faults: PlacedFault[] = [];
  if (version !== undefined && version !== versionOf(finding.stepId, finding.impactUsd)) {
    const now = `it is ${finding.state} now, and adds ${finding.impactUsd} US dollars`;
    faults.push(
      at('version', 'finding_changed', `the finding has changed since you read it: ${now}; look at it again`),
    );
  }
  const wrong = wrongStep(finding.state, state);
  if (wrong) faults.push(at('state', 'finding_changed', wrong));
  if (state === 'accepted') {
    const refused = refusedAcceptance(call, finding);
    if (refused) faults.push(at('state', refused.code, refused.detail));
  }
  return faults;
}

/** Why a finding cannot go from one state to another; undefined: it can. */
function wrongStep(from: FindingState, to: StepState): string | undefined {
  if (from === to) return `the finding is ${from} already`;
  if (to === 'reopened')
    return from === 'open' ? 'the finding is open; nothing was decided that could be undone' : undefined;
  return CLOSED.has(from) ? `the finding is ${from}; to decide otherwise, reopen it first` : undefined;
}

/** A loss that is accepted is nobody's to look into any more: that takes a person, and one who did not ask for the payment. */
function refusedAcceptance(
  call: AuthenticatedCall,
  { clientId, keyId, actor }: FindingNow,
): { code: ProblemCode; detail: string } | undefined {
  const { person, clientName } = call.caller;
  if (person === null) {
    const detail = `a person has to accept a difference, with a key of their own. ${needsPersonalKey(clientName)}`;
    return { code: 'invalid_request', detail };
  }
  if (clientId === null || keyId === null) return undefined;
  try {
    requireSomebodyElse(call, { clientId, keyId, actor }, OWN);
    return undefined;
  } catch (problem) {
    const { code, message } = problem as Problem;
    return { code, detail: message };
  }
}

function invalid(fault: Fault): PlacedFault {
  return { ...fault, code: 'invalid_request' };
}

/** What has to be put right first gives the answer its code. */
const WORST: ProblemCode[] = ['invalid_request', 'own_approval', 'finding_changed'];

function refuse(found: PlacedFault[]): void {
  const code = WORST.find((each) => found.some((fault) => fault.code === each));
  if (code === undefined) return;
  const faults = found.map(({ pointer, detail }) => ({ pointer, detail }));
  throw new Problem(code, { faults, ...(code === 'own_approval' && { text: OWN }) });
}
