import { ApiProperty } from '@nestjs/swagger';
import { BOOLEAN, described } from '../../platform/schema/fields';
import { Scope, SCOPES } from '../../operations/scopes';
import { OPERATION_NAMES, OperationName } from '../../operations/catalogue';
import { Effect } from '../../operations/row';

const EFFECTS: Effect[] = ['pay', 'write', 'read'];

export class OperationDto {
  @ApiProperty({ enum: OPERATION_NAMES, description: 'Name of the operation.' })
  operation!: OperationName;
  @ApiProperty({
    enum: EFFECTS,
    description: '`pay`: value leaves a wallet. `write`: something is created or deleted.',
  })
  effect!: Effect;
  @ApiProperty({ enum: SCOPES, isArray: true, description: 'Scopes that a key needs. All are required.' })
  scopes!: Scope[];
  @described(BOOLEAN, 'Whether the upstream documents it. If not, its behavior was observed.')
  documented!: boolean;
}

/** The operations and scopes that a client can be granted. */
export class GrantableDto {
  @ApiProperty({ type: [OperationDto], description: 'Operations, in the order of the interface.' })
  operations!: OperationDto[];
  @ApiProperty({ enum: SCOPES, isArray: true, description: 'Scopes that a key can have.' }) scopes!: Scope[];
}
