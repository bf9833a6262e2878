import { getSchemaPath, OpenAPIObject } from '@nestjs/swagger';
import { KIND_NAMES } from '../history/log/kinds';
import { APPROVAL_STATUSES } from '../history/records/record.dto';
import { OPERATIONS } from '../operations/catalogue/catalogue';
import { SCOPES } from '../operations/catalogue/scopes';
import { CALL_STATES } from '../operations/lifecycle/lifecycle';
import { NEXT_STEPS, PAYOUT_STATES } from '../operations/lifecycle/settlement';
import { ACTION_NAMES } from '../platform/errors/kinds';
import { FIRST_CALL_STATES } from '../platform/errors/problem';
import { PROBLEMS } from '../platform/errors/problems';
import { SEVERITIES } from '../reconciliation/findings/categories';
import { RESULTS } from '../reconciliation/runs/run-reader';
import { RUN_STATES } from '../reconciliation/runs/runs.dto';

/** The lists of words that programs name, by their names in the document. */
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

/**
 * Moves each list of words into `components.schemas`, and replaces it with a reference wherever it is an
 * `enum`.
 */
export function nameEnums(document: OpenAPIObject): void {
  const schemas = Object.entries(ENUMS).map(
    ([name, words]) => [name, { type: 'string', enum: [...words] }] as const,
  );
  replaceEnums(document, new Map(schemas.map(([name, schema]) => [JSON.stringify(schema.enum), name])));
  Object.assign(document.components?.schemas ?? {}, Object.fromEntries(schemas));
}

function replaceEnums(value: unknown, names: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as { $ref?: string; type?: unknown; enum?: unknown };
  const name = names.get(JSON.stringify(schema.enum));
  if (name === undefined) return Object.values(value).forEach((inner) => replaceEnums(inner, names));
  schema.$ref = getSchemaPath(name);
  delete schema.type;
  delete schema.enum;
}
