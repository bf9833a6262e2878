import { ApiProperty } from '@nestjs/swagger';
import { Scope, SCOPES } from '../../operations/scopes';
import { OPERATION_NAMES, OperationName } from '../../operations/catalogue';
import { Effect } from '../../operations/row';

const EFFECTS: Effect[] = ['pay', 'write', 'read'];

export class OperationDto {
  @ApiProperty({ enum: OPERATION_NAMES, description: 'Its name, its line in the interface.' })
  operation!: OperationName;
  @ApiProperty({
    enum: EFFECTS,
    description: '`pay`: value leaves a wallet. `write`: something is made or unmade.',
  })
  effect!: Effect;
  @ApiProperty({ enum: SCOPES, isArray: true, description: 'The scopes that a key needs for it, all of them.' })
  scopes!: Scope[];
  @ApiProperty({
    type: 'boolean',
    description: "Whether the interface's document describes it; else it is what such services were seen to do.",
  })
  documented!: boolean;
}

/** What a client can be allowed. */
export class GrantableDto {
  @ApiProperty({ type: [OperationDto], description: 'In the order of the interface.' }) operations!: OperationDto[];
  @ApiProperty({ enum: SCOPES, isArray: true, description: 'What a key may do.' }) scopes!: Scope[];
}
