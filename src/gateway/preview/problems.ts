import { pointerIn } from '../../operations/items/items';
import { Problem } from '../../platform/errors/problem';
import { Destinations } from '../forwarding/coverage/coverage';
import { ownLimitProblems } from '../forwarding/ownership/own-limits';
import { refusalOf } from '../may-pay/obstacle-problem';
import { PreviewFacts } from './facts';

/** Returns every error of a request, in the order in which the request itself would be rejected. */
export function problemsOf(facts: PreviewFacts): Problem[] {
  const { call, positioned, replay, valueProblem, instance } = facts;
  const ofInstance = instance ? [refusalOf(instance, call)] : [];
  // A replay skips the other checks.
  if (replay !== undefined && !(replay instanceof Problem)) return ofInstance;
  const isFenced = instance?.kind === 'fenced';
  const [items, positions] = [positioned.map(({ item }) => item), positioned.map(({ position }) => position)];
  return [
    ...bodyProblems(facts),
    ...(isFenced ? ofInstance : []),
    ...facts.headerProblems,
    ...(replay ? [replay] : []),
    ...(valueProblem ? [valueProblem] : ownLimitProblems(call, items, positions)),
    ...coverageProblems(facts),
    ...(isFenced ? [] : ofInstance),
    ...obstacleProblems(facts),
  ];
}

function bodyProblems({ found }: PreviewFacts): Problem[] {
  return found.total === 0
    ? []
    : [new Problem('invalid_request', { faults: found.faults, faultsTotal: found.total })];
}

function obstacleProblems({ call, dryRun }: PreviewFacts): Problem[] {
  return dryRun.obstacles.flatMap((obstacle) => {
    // `replay` shows the first two, and the per-call rules show the third.
    if (obstacle.kind === 'repeated' || obstacle.kind === 'key_reused' || obstacle.kind === 'over_own_limit')
      return [];
    return [refusalOf(obstacle, call)];
  });
}

function coverageProblems({ call, positioned, served }: PreviewFacts): Problem[] {
  if (!(served instanceof Destinations)) return [];
  const pointer = pointerIn(call.operation);
  const faults = served.faultsIn(
    positioned.map(({ item }) => item),
    (place, field) => pointer(positioned[place]?.position ?? place, field),
  );
  return faults.length > 0 ? [new Problem('not_served', { faults })] : [];
}
