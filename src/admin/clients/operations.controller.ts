import { Controller, Get } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/route-access';
import {
  OPERATION_NAMES,
  OperationName,
  rowOf,
  scopesOf,
  sourceOf,
} from '../../operations/catalogue/catalogue';
import { Effect } from '../../operations/catalogue/row';
import { Scope, SCOPES } from '../../operations/catalogue/scopes';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { BOOLEAN, described } from '../../platform/schema/fields';
import { ApiSummary } from '../../platform/schema/routes';

const EFFECTS: Effect[] = ['pay', 'write', 'read'];

export class OperationDto {
  @described({ enum: OPERATION_NAMES }, 'Name of the operation.') operation!: OperationName;
  @described({ enum: EFFECTS }, 'Effect at the upstream. `pay` moves value, `write` creates or deletes.')
  effect!: Effect;
  @described({ enum: SCOPES, isArray: true }, 'Required scopes of a key.') scopes!: Scope[];
  @described(BOOLEAN, 'Whether the upstream documents the operation. If not, its behavior was observed.')
  documented!: boolean;
}

/** Operations and scopes for permissions of clients. */
export class GrantableDto {
  @described({ type: [OperationDto] }, 'Operations, in the order of the interface.')
  operations!: OperationDto[];
  @described({ enum: SCOPES, isArray: true }, 'Scopes of keys.') scopes!: Scope[];
}

const GRANTABLE: GrantableDto = {
  operations: OPERATION_NAMES.map((operation) => {
    const documented = sourceOf(operation) === 'documented';
    return { operation, effect: rowOf(operation).effect, scopes: scopesOf(operation), documented };
  }),
  scopes: [...SCOPES],
};

/** Lists the valid values of limits, filters and stops, for user interfaces. */
@ApiTags('Clients')
@Controller('v1/operations')
export class OperationsController {
  @Get()
  @Allow(...SCOPES)
  @ApiSummary(
    'List operations and scopes',
    'Requires any scope. Includes operations that are disabled for you.',
  )
  @ApiResponse({ status: 200, type: GrantableDto, description: 'The operations and scopes.' })
  @ApiKeyProblems()
  listOperations(): GrantableDto {
    return GRANTABLE;
  }
}
