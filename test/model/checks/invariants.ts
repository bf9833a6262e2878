import { Decimal } from 'decimal.js';
import { totalOf } from '../bodies';
import { BYSTANDER } from '../bystander';
import { checkDecisions } from '../decisions';
import { Lane, SentRequest } from '../lane';
import { LogicalRequest } from '../schedule';
import { FinishedWave } from '../wave';
import { World } from '../world';
import { listCalls } from './lists';
import { checkMoney } from './money';
import {
  Arrival,
  Intent,
  isDoubtedByRecovery,
  isFreed,
  isInDoubt,
  isLie,
  isSendable,
  misjudged,
} from './records';
import { checkReleases } from './releases';
import { checkResponse } from './responses';
import { checkStates } from './states';

/** Answers that are recorded as a success even if nothing was done: of the sandbox and of the simulator. */
const FALSE_SUCCESSES = ['successNamingNothing', 'names-nothing'];

/** One logical request with all its events. */
export interface Timeline {
  lane: Lane;
  number: number;
  request: LogicalRequest;
  totalUsd: Decimal | null;
  sent: SentRequest[];
  intents: Intent[];
  arrivals: Arrival[];
}

/** Returns all violations, by schedule. */
export async function check(world: World, settled: FinishedWave): Promise<Map<number, string[]>> {
  const wrong = new Map<number, string[]>();
  for (const [index, lane] of settled.lanes.entries()) {
    const intents = settled.intents.filter(({ clientId }) => clientId === lane.client.id);
    const timelines = [...lane.requests].map(([number, request]): Timeline => {
      const ofIt = (each: { number: number }) => each.number === number;
      return {
        lane,
        number,
        request,
        totalUsd: totalOf(request, number),
        sent: lane.sent.filter(ofIt),
        intents: intents.filter(ofIt),
        arrivals: settled.arrivals.filter(ofIt),
      };
    });
    const faults = [
      ...timelines.flatMap((timeline) =>
        checkTimeline(timeline).map((fault) => `request ${timeline.number}: ${fault}`),
      ),
      ...lane.sent.flatMap((sent) => checkResponse(world, lane, sent, intents)),
      ...checkDecisions(world, lane, intents),
      ...checkReleases(world, lane, intents),
      ...(await checkMoney(world, lane, timelines)),
      ...(await checkStates(world, lane, timelines)),
      ...(await checkLists(world, lane, intents)),
    ];
    if (faults.length > 0) wrong.set(index, faults);
  }
  const known = new Set([BYSTANDER, ...settled.lanes.flatMap(({ requests }) => [...requests.keys()])]);
  const strangers = settled.arrivals.filter(({ number }) => !known.has(number));
  if (strangers.length > 0 || settled.violations.length > 0) {
    wrong.set(-1, [
      ...settled.violations,
      ...strangers.map(({ number }) => `request ${number} arrived, but was never sent`),
    ]);
  }
  return wrong;
}

function checkTimeline({ request, number, intents, arrivals, totalUsd }: Timeline): string[] {
  const sendable = intents.filter(isSendable);
  const count = (...outcomes: Intent['outcome'][]) =>
    sendable.filter(({ outcome }) => outcomes.includes(outcome)).length;
  // Without a key, a refused request may be sent again.
  const keyedOnly = request.keyed ? (['rejected'] as const) : [];
  const freed = sendable.filter(isFreed).length;
  const returned = sendable.filter((call) => call.returned && call.resolution !== 'not_executed').length;
  const free = request.keyed ? freed : returned;
  const notExecuted = sendable.filter(
    ({ outcome, resolution }) => outcome !== 'succeeded' && resolution === 'not_executed',
  ).length;
  // A recovery doubts what the queue holds, also a call that was admitted by the old database, and not sent.
  const doubted = sendable.filter((call) => call.outcome === null && isDoubtedByRecovery(call)).length;
  const done = arrivals.filter(({ processed }) => processed);
  // The answer is recorded as it was. The payouts stay in doubt where answers name their transactions.
  const falseSuccesses = arrivals.filter(
    ({ processed, fault }) => !processed && fault !== null && FALSE_SUCCESSES.includes(fault),
  ).length;
  const trulyDone = done.filter((arrival) => !isLie(arrival)).length;
  const settledAs = (settled: Intent['resolution']) =>
    sendable.filter(
      ({ outcome, resolution }) => (outcome ?? 'unknown') === 'unknown' && resolution === settled,
    ).length;
  // Each was settled as not executed, and its payment turned up later, or never.
  const unknowable = misjudged(sendable, arrivals);
  const turnedUp = misjudged(
    sendable.filter(({ resolution }) => resolution !== 'not_executed'),
    arrivals,
  );
  // A copy has no recipients, so nothing shows whose late payment it is. A hidden one is never listed.
  const isShown =
    arrivals.some((one) => one.unknowable === 'late') && !intents.some((call) => call.recovered);
  const unattributable = isShown ? 0 : unknowable - turnedUp;
  const faults: [boolean, string][] = [
    // IDs show the order of arrival, not of admission. A duplicate that waited may have the smaller one.
    [
      count('succeeded', 'unknown', null, ...keyedOnly) - free - notExecuted - turnedUp - doubted > 1,
      'was sent again although it may have been paid',
    ],
    [
      request.keyed && arrivals.length > 1 + notExecuted + freed + turnedUp,
      `arrived ${arrivals.length} times`,
    ],
    [trulyDone > 1 + unknowable + (request.keyed ? 0 : free), 'was carried out more than once'],
    [arrivals.length > count('succeeded', 'rejected', 'unknown', null), 'arrived without an intent'],
    [arrivals.length < count('succeeded', 'rejected'), 'has an answer of the upstream, but did not arrive'],
    [done.length + falseSuccesses < count('succeeded'), 'is recorded as succeeded, but was not carried out'],
    [
      trulyDone - unattributable > count('succeeded', 'unknown', null) - settledAs('not_executed'),
      'was carried out, but is recorded as not carried out',
    ],
    [
      count('succeeded') + settledAs('confirmed') > timesDone(done) + falseSuccesses,
      'is recorded as carried out too often',
    ],
    [
      intents.some(
        (intent) => intent.totalUsd !== null && totalUsd !== null && !totalUsd.eq(intent.totalUsd),
      ),
      `is not recorded with its amount, ${totalUsd?.toFixed()}`,
    ],
    [
      intents.some(({ idempotencyKey }) => idempotencyKey !== (request.keyed ? `request-${number}` : null)),
      'is not recorded with its key',
    ],
  ];
  return faults.flatMap(([broken, fault]) => (broken ? [fault] : []));
}

function timesDone(done: Arrival[]): number {
  return done.length + done.filter(({ fault }) => fault === 'duplicateTransaction').length;
}

/** Checks that the lists contain exactly the calls in doubt and the calls that wait for an approval. */
async function checkLists(world: World, { client }: Lane, intents: Intent[]): Promise<string[]> {
  const doubts = idsOf(intents, isInDoubt);
  const waiting = idsOf(intents, ({ held, decision, refused }) => held && decision === null && !refused);
  const listed = await listCalls(world, `outcome=unknown&client=${client.name}`);
  const queued = await listCalls(world, `outcome=queued&client=${client.name}`);
  const pending = await listCalls(world, `outcome=pending_approval&client=${client.name}`);
  return [
    ...differences(doubts, listed).map(([id, fault]) => `${id} is in doubt: ${fault}`),
    ...differences(waiting, pending).map(([id, fault]) => `${id} is pending approval: ${fault}`),
    ...[...queued].map((id) => `${id} is still queued`),
  ];
}

function idsOf(intents: Intent[], predicate: (intent: Intent) => boolean): Set<string> {
  return new Set(intents.filter(predicate).map(({ id }) => id));
}

function differences(right: Set<string>, listed: Set<string>): [string, string][] {
  return [
    ...[...right].filter((id) => !listed.has(id)).map((id): [string, string] => [id, 'it is not listed']),
    ...[...listed]
      .filter((id) => !right.has(id))
      .map((id): [string, string] => [id, 'it does not, but is listed']),
  ];
}
