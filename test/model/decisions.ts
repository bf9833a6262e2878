import { Intent } from './checks/records';
import { wasStopped } from './checks/responses';
import { DecisionResponse, Lane } from './lane';
import { LogicalRequest } from './schedule';
import { World } from './world';

const RECORDED = { approve: 'approved', reject: 'rejected' } as const;

/** Checks that one of two concurrent approvers wins, and both get correct answers. */
export function checkDecisions(world: World, lane: Lane, intents: Intent[]): string[] {
  // A copy has no rejection, so a rejected call may wait again after a loss.
  const winners = lane.decided.filter((one) => hasWon(one) && !isLostRejection(world, one));
  const twice = winners.filter(
    ({ callId }, at) => winners.findIndex((other) => other.callId === callId) !== at,
  );
  return [
    ...twice.map(({ callId }) => `${callId} was decided twice`),
    ...lane.decided.flatMap((decided) => checkDecided(world, lane, decided, intents)),
  ].map((fault) => `approvals: ${fault}`);
}

function checkDecided(world: World, lane: Lane, decided: DecisionResponse, intents: Intent[]): string[] {
  const { callId, number, decision, response } = decided;
  const intent = intents.find(({ id }) => id === callId);
  if (!response || !intent) return [];
  const prefix = `${decision} of ${callId} got ${response.status} ${response.json.code ?? ''}: `;
  const request = lane.requests.get(number) as LogicalRequest;
  if (isLostRejection(world, decided)) return [];
  if (hasWon(decided)) {
    if (intent.decision !== RECORDED[decision]) return [`${prefix}${intent.decision} is recorded`];
    const stopped = decision === 'approve' && wasStopped(world, lane, request, decided);
    return stopped ? [`${prefix}it was stopped`] : [];
  }
  switch (response.json.code ?? '') {
    case 'already_decided':
      return intent.decision === null && !world.lost?.calls.has(callId) ? [`${prefix}no one decided`] : [];
    case 'approval_expired':
      return intent.decision === null ? [] : [`${prefix}${intent.decision} is recorded`];
    case 'outcome_unknown': // in doubt, and listed as such
      return intent.decision === 'approved' ? [] : [`${prefix}${intent.decision} is recorded`];
    case 'cap_exceeded': // checked in money.ts
    case 'stopped':
    case 'database_unavailable':
    case 'overloaded':
      return [];
    case 'instance_fenced':
      return world.mayFence || response.by === world.fenced ? [] : [`${prefix}the instance is not fenced`];
    case 'approval_not_found':
      return intent.queued || world.lost?.calls.has(callId) ? [] : [`${prefix}it was held`];
    case 'content_lost': // copies have no bodies
    case 'content_changed': // read during the restore
      return world.lost?.calls.has(callId) ? [] : [`${prefix}the content was complete`];
    default:
      return [`${prefix}the code is unexpected`];
  }
}

function isLostRejection({ lost }: World, { callId, decision }: DecisionResponse): boolean {
  return decision === 'reject' && (lost?.calls.has(callId) ?? false);
}

function hasWon({ response }: DecisionResponse): boolean {
  return response !== undefined && response.status < 300;
}
