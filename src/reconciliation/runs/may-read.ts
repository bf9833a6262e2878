import { Call, maySeePeople } from '../../access/auth/call';
import { Problem } from '../../platform/errors/problem';
import { Run } from './run-reader';

/**
 * Requires that the caller may learn what a run found. The totals and findings of a run that compares recipients tell which
 * of them were paid, even if they name nobody.
 * @throws Problem `scope_missing`
 */
export function requireMayRead({ comparesPeople }: Pick<Run, 'comparesPeople'>, call: Call): void {
  if (!comparesPeople || maySeePeople(call)) return;
  throw new Problem('scope_missing', {
    text: 'This statement names recipients, so a comparison with it tells who was paid and requires a key with the scope audit:pii. Import the statement without columns of recipients, or ask the operator for the scope.',
  });
}
