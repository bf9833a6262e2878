import { Lane } from '../lane';
import { KnownStop, World } from '../world';
import { Intent, isDoubtedByRecovery } from './records';
import { isStoppedBy } from './responses';

/** Checks that no queued call was released during a stop, except to be in doubt after a recovery. */
export function checkReleases(world: World, lane: Lane, intents: Intent[]): string[] {
  return intents
    .filter((intent) => intent.decision === 'released' && !isDoubtedByRecovery(intent))
    .filter((intent) => world.stops.some((stop) => isDuring(stop, intent) && covers(stop, lane, intent)))
    .map(({ id }) => `${id} was released during a stop`);
}

/** Returns whether the transaction of a decision began after a stop, and decided before its lift. */
function isDuring({ since, liftedAt }: KnownStop, { decidedIn, decidedAt }: Intent): boolean {
  if (decidedIn === null || decidedAt === null || BigInt(decidedIn) < since) return false;
  return liftedAt === null || decidedAt < liftedAt;
}

function covers(stop: KnownStop, lane: Lane, { number }: Intent): boolean {
  const request = lane.requests.get(number);
  return request !== undefined && isStoppedBy(stop, lane, request);
}
