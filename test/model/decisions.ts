import { Intent } from './checks/records';
import { wasStopped } from './checks/told';
import { Decided, Lane } from './lane';
import { LogicalRequest } from './schedule';
import { World } from './world';

const RECORDED = { approve: 'approved', reject: 'rejected' } as const;

/** Checks that one of two concurrent approvers wins, and both get the truth. */
export function checkDecisions(world: World, lane: Lane, intents: Intent[]): string[] {
  // A copy has no rejection, so a rejected call may wait again after a loss.
  const winners = lane.decided.filter((one) => hasWon(one) && !isLostRejection(world, one));
  const twice = winners.filter(
    ({ callId }, at) => winners.findIndex((other) => other.callId === callId) !== at,
  );
  return [
    ...twice.map(({ callId }) => `${callId} was decided about twice`),
    ...lane.decided.flatMap((decided) => checkDecided(world, lane, decided, intents)),
  ].map((fault) => `approvals: ${fault}`);
}

function checkDecided(world: World, lane: Lane, decided: Decided, intents: Intent[]): string[] {
  const { callId, number, decision, told } = decided;
  const intent = intents.find(({ id }) => id === callId);
  if (!told || !intent) return [];
  const said = `${decision} of ${callId} was told ${told.status} ${told.json.code ?? ''}: `;
  const request = lane.requests.get(number) as LogicalRequest;
  if (isLostRejection(world, decided)) return [];
  if (hasWon(decided)) {
    if (intent.decision !== RECORDED[decision]) return [`${said}${intent.decision} is recorded`];
    const stopped = decision === 'approve' && wasStopped(world, lane, request, decided);
    return stopped ? [`${said}it was stopped`] : [];
  }
  switch (told.json.code ?? '') {
    case 'already_decided':
      return intent.decision === null && !world.lost?.calls.has(callId) ? [`${said}nobody did`] : [];
    case 'approval_expired':
      return intent.decision === null ? [] : [`${said}${intent.decision} is recorded`];
    case 'outcome_unknown': // in doubt, and listed as such
      return intent.decision === 'approved' ? [] : [`${said}${intent.decision} is recorded`];
    case 'cap_exceeded': // checked in money.ts
    case 'stopped':
    case 'database_unavailable':
    case 'overloaded':
      return [];
    case 'instance_fenced':
      return world.mayFence || told.by === world.fenced ? [] : [`${said}nothing fences this instance`];
    case 'approval_not_found':
    case 'content_lost': // copies have no bodies
    case 'content_changed': // read during the restore
      return world.lost?.calls.has(callId) ? [] : [`${said}it was there`];
    default:
      return [`${said}nothing of that kind was asked for`];
  }
}

function isLostRejection({ lost }: World, { callId, decision }: Decided): boolean {
  return decision === 'reject' && (lost?.calls.has(callId) ?? false);
}

function hasWon({ told }: Decided): boolean {
  return told !== undefined && told.status < 300;
}
