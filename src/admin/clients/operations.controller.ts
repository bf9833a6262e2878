import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { SCOPES } from '../../operations/scopes';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { OPERATION_NAMES, rowOf, scopesOf } from '../../operations/catalogue';
import { GrantableDto } from './operations.dto';

const GRANTABLE: GrantableDto = {
  operations: OPERATION_NAMES.map((operation) => {
    const { effect, source } = rowOf(operation);
    return { operation, effect, scopes: scopesOf(operation), documented: source === 'documented' };
  }),
  scopes: [...SCOPES],
};

/** The words that limits, filters and stops are made of, for programs that offer a choice of them. */
@ApiTags('Clients')
@ApiSecurity('key')
@Controller('v1/operations')
export class OperationsController {
  @Get()
  @Allow(...SCOPES)
  @ApiOperation({
    summary: 'What there is to be allowed',
    operationId: 'listOperations',
    description:
      'Any scope. The operations of the interface, also those that are switched off for you, and the scopes.',
  })
  @ApiResponse({ status: 200, type: GrantableDto, description: 'All of them.' })
  @ApiKeyProblems()
  list(): GrantableDto {
    return GRANTABLE;
  }
}
