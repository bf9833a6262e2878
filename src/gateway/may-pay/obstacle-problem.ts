import { OperationCall } from '../../access/auth/call';
import { isEndUser } from '../../access/people/person';
import { OperationName } from '../../operations/catalogue/catalogue';
import { Fault, Problem } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';
import { happenedOf } from '../../platform/errors/reads';
import { AnyObstacle, BrokenRule, Reader, Row, ROWS } from './obstacles';

interface ObstacleOptions {
  /** The operation whose body has the faults. */
  operation?: OperationName;
  recorded?: boolean;
}

const TO_APP = { client: 'Your client', person: 'This person', ephemeral_key: 'This ephemeral key' };
const TO_STAFF = { client: 'The client', person: 'The requester', ephemeral_key: 'The ephemeral key' };

const UNCHANGED: Record<Reader, string> = {
  app: 'Nothing was sent.',
  approver: 'Nothing was sent, and the call is still pending.',
  settler: 'Nothing was changed.',
};

/** Returns the error for the caller of a request. Hides the spending of the whole app from end users. */
export function refusalOf(
  obstacle: AnyObstacle,
  { operation, person }: Pick<OperationCall, 'operation' | 'person'>,
): Problem {
  const isOfApp = person && isEndUser(person) && obstacle.kind === 'over_cap' && obstacle.of === 'client';
  return obstacleProblem(isOfApp ? { kind: 'over_cap_of_app' } : obstacle, 'app', { operation });
}

/** Returns the error for a request, a held call or a settlement with an obstacle. */
export function obstacleProblem(
  obstacle: AnyObstacle,
  reader: Reader,
  { operation, recorded = true }: ObstacleOptions = {},
): Problem {
  const row = rowOf(obstacle);
  const code = codeFor(row, obstacle, reader);
  const faults = (operation && row.faults?.(obstacle, operation)) ?? [];
  const options = { ...row.more?.(obstacle), faults, recorded };
  const next = row.next[reader];
  if (next === undefined) return new Problem(code, options);
  const names = reader === 'app' ? TO_APP : TO_STAFF;
  const rule = reader === 'approver' ? textFor(row.rule, obstacle) : '';
  const happened = rule
    ? `The client may no longer do this (${codeFor(row, obstacle, 'app')}): ${rule}.`
    : textFor(row.happened ?? happenedOf(code), obstacle, names);
  const text = `${happened} ${UNCHANGED[row.isOver ? 'app' : reader]} ${textFor(next, obstacle, names)}`;
  return new Problem(code, { text, ...options });
}

/** Returns the rule that a held call breaks, for a forecast of its approval. */
export function forecastOf(
  obstacle: BrokenRule,
  operation: OperationName,
): { code: ProblemCode; detail: string; errors: Fault[] } {
  const { faults: errors } = obstacleProblem(obstacle, 'approver', { operation });
  return {
    code: codeFor(rowOf(obstacle), obstacle, 'app'),
    detail: textFor(rowOf(obstacle).rule, obstacle),
    errors,
  };
}

function rowOf(obstacle: AnyObstacle): Row<AnyObstacle> {
  return ROWS[obstacle.kind] as Row<AnyObstacle>;
}

function codeFor({ code, heldCode }: Row<AnyObstacle>, obstacle: AnyObstacle, reader: Reader): ProblemCode {
  if (reader === 'approver' && heldCode !== undefined) return heldCode;
  return typeof code === 'string' ? code : code(obstacle);
}

function textFor(text: Row<AnyObstacle>['happened'], obstacle: AnyObstacle, names = TO_STAFF): string {
  return typeof text === 'function' ? text(obstacle, names) : (text ?? '');
}
