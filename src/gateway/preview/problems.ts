import { pointerIn } from '../../operations/items';
import { Obstacle } from '../../policy/admission';
import { Problem } from '../../platform/errors/problem';
import { Served } from '../forwarding/coverage';
import { obstacleProblem, ownLimitProblems } from '../forwarding/refusals';
import { PreviewedBody, PreviewFacts } from './facts';
import { withSuggestions } from './positioned-items';

/** Returns every error of a request, in the order in which the request itself would be rejected. */
export function problemsOf(facts: PreviewFacts): Problem[] {
  const { call, positioned, replay, valueProblem } = facts;
  if (replay !== undefined && !(replay instanceof Problem)) return []; // A replay is not checked again.
  const [items, positions] = [positioned.map(({ item }) => item), positioned.map(({ position }) => position)];
  return [
    ...formProblems(facts),
    ...(replay ? [replay] : []),
    ...obstacleProblems(facts, ({ kind }) => kind === 'key_reused'),
    ...(valueProblem ? [valueProblem] : ownLimitProblems(call, items, positions)),
    ...coverageProblems(facts),
    ...obstacleProblems(facts, ({ kind }) => kind !== 'key_reused'),
  ];
}

/** Returns the errors of the body and the headers alone. */
export function formProblems({
  body,
  found,
  headerProblems,
}: PreviewedBody & { headerProblems: Problem[] }): Problem[] {
  if (found.total === 0) return headerProblems;
  const invalid = { faults: withSuggestions(found.faults, body), faultsTotal: found.total };
  return [new Problem('invalid_request', invalid), ...headerProblems];
}

function obstacleProblems({ call, dryRun }: PreviewFacts, wanted: (obstacle: Obstacle) => boolean): Problem[] {
  return dryRun.obstacles
    .filter(wanted)
    .flatMap((obstacle) =>
      obstacle.kind === 'repeated' || obstacle.kind === 'over_own_limit' ? [] : [obstacleProblem(obstacle, call)],
    );
}

function coverageProblems({ call, positioned, served }: PreviewFacts): Problem[] {
  if (!(served instanceof Served)) return [];
  const pointer = pointerIn(call.operation);
  const faults = served.faultsIn(
    positioned.map(({ item }) => item),
    (place, field) => pointer(positioned[place]?.position ?? place, field),
  );
  return faults.length > 0 ? [new Problem('not_served', { faults })] : [];
}
