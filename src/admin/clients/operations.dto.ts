import { BOOLEAN, described } from '../../platform/schema/fields';
import { Scope, SCOPES } from '../../operations/scopes';
import { OPERATION_NAMES, OperationName } from '../../operations/catalogue';
import { Effect } from '../../operations/row';

const EFFECTS: Effect[] = ['pay', 'write', 'read'];

export class OperationDto {
  @described({ enum: OPERATION_NAMES }, 'Name of the operation.')
  operation!: OperationName;
  @described({ enum: EFFECTS }, '`pay`: value leaves a wallet. `write`: something is created or deleted.')
  effect!: Effect;
  @described({ enum: SCOPES, isArray: true }, 'Scopes that a key needs. All are required.')
  scopes!: Scope[];
  @described(BOOLEAN, 'Whether the upstream documents it. If not, its behavior was observed.')
  documented!: boolean;
}

/** The operations and scopes that a client can be granted. */
export class GrantableDto {
  @described({ type: [OperationDto] }, 'Operations, in the order of the interface.')
  operations!: OperationDto[];
  @described({ enum: SCOPES, isArray: true }, 'Scopes that a key can have.') scopes!: Scope[];
}
