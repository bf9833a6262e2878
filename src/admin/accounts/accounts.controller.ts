import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { AccountsDto } from './accounts.dto';
import { AccountsService } from './accounts.service';

/** Shows the accounts at the upstream. Their keys and secrets are never shown. */
@ApiTags('Clients')
@Controller('v1/accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Get()
  @Allow('admin', 'reconcile', 'audit')
  @ApiOperation({
    summary: 'List the upstream accounts',
    operationId: 'listAccounts',
    description: 'Scope `admin`, `reconcile` or `audit`. Includes accounts that only clients name.',
  })
  @ApiResponse({ status: 200, type: AccountsDto, description: 'The accounts.' })
  @ApiKeyProblems()
  async list(): Promise<AccountsDto> {
    return { accounts: await this.accounts.list() };
  }
}
