import { getSchemaPath, OpenAPIObject } from '@nestjs/swagger';
import { KIND_NAMES } from '../history/log/kinds';
import { APPROVAL_STATUSES } from '../history/records/record.dto';
import { orNull } from '../platform/schema/fields';
import { USD_FORMS } from '../http/validation/limit-properties';
import { OPERATIONS } from '../operations/catalogue';
import { CALL_STATES } from '../operations/lifecycle';
import { NEXT_STEPS, PAYOUT_STATES } from '../operations/settlement';
import { SCOPES } from '../operations/scopes';
import { ACTION_NAMES } from '../platform/errors/kinds';
import { FIRST_CALL_STATES } from '../platform/errors/problem';
import { PROBLEMS } from '../platform/errors/problems';
import { SEVERITIES } from '../reconciliation/findings/categories';
import { RESULTS } from '../reconciliation/runs/run-reader';
import { RUN_STATES } from '../reconciliation/runs/runs.dto';

/** The lists of words that several schemas share, by their names in the document. */
const ENUMS = {
  ApprovalStatus: APPROVAL_STATUSES,
  CallState: CALL_STATES,
  ErrorAction: ACTION_NAMES,
  ErrorCode: Object.keys(PROBLEMS),
  FirstCallState: FIRST_CALL_STATES,
  NextStep: [...new Set(Object.values(NEXT_STEPS))],
  OperationName: Object.keys(OPERATIONS),
  PayoutState: PAYOUT_STATES,
  RecordKind: KIND_NAMES,
  RunResult: RESULTS,
  RunState: RUN_STATES,
  Scope: SCOPES,
  Severity: SEVERITIES,
};

/** The forms of a value that several schemas share. */
const FORMS = { UsdLimit: orNull({ anyOf: USD_FORMS }).anyOf };

/** A shared schema, and the part by which it is found. */
interface Shared {
  name: string;
  schema: object;
  found: string;
}

const SHARED: Shared[] = [
  ...Object.entries(ENUMS).map(([name, words]) => ({
    name,
    schema: { type: 'string', enum: [...words] },
    found: JSON.stringify(words),
  })),
  ...Object.entries(FORMS).map(([name, anyOf]) => ({ name, schema: { anyOf }, found: JSON.stringify(anyOf) })),
];

/**
 * Moves each list of words or forms into `components.schemas`, and replaces it with a reference wherever it is the `enum`
 * or `anyOf` of a schema.
 */
export function shareEnums(document: OpenAPIObject): void {
  replaceLists(document, new Map(SHARED.map(({ found, name }) => [found, name])));
  Object.assign(
    document.components?.schemas ?? {},
    Object.fromEntries(SHARED.map(({ name, schema }) => [name, schema])),
  );
}

function replaceLists(value: unknown, names: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as { $ref?: string; type?: unknown; enum?: unknown; anyOf?: unknown };
  const name = names.get(JSON.stringify(schema.enum ?? schema.anyOf));
  if (name === undefined) return Object.values(value).forEach((inner) => replaceLists(inner, names));
  schema.$ref = getSchemaPath(name);
  delete schema.type;
  delete schema.enum;
  delete schema.anyOf;
}
