import { Controller, Get } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { SCOPES } from '../../operations/scopes';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { OPERATION_NAMES, rowOf, scopesOf, sourceOf } from '../../operations/catalogue';
import { GrantableDto } from './operations.dto';
import { ApiSummary } from '../../platform/schema/routes';

const GRANTABLE: GrantableDto = {
  operations: OPERATION_NAMES.map((operation) => {
    const documented = sourceOf(operation) === 'documented';
    return { operation, effect: rowOf(operation).effect, scopes: scopesOf(operation), documented };
  }),
  scopes: [...SCOPES],
};

/** Lists the values that limits, filters and stops accept, for programs that offer a choice. */
@ApiTags('Clients')
@Controller('v1/operations')
export class OperationsController {
  @Get()
  @Allow(...SCOPES)
  @ApiSummary(
    'List operations and scopes',
    'Any scope. Returns all operations of the interface, including those that are disabled for you, and all scopes.',
  )
  @ApiResponse({ status: 200, type: GrantableDto, description: 'The operations and scopes.' })
  @ApiKeyProblems()
  listOperations(): GrantableDto {
    return GRANTABLE;
  }
}
