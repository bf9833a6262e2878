import { Controller, Get } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/route-access';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApiSummary } from '../../platform/schema/routes';
import { AccountsDto } from './accounts.dto';
import { AccountsService } from './accounts.service';

/** Shows the accounts at the upstream, without their keys and secrets. */
@ApiTags('Clients')
@Controller('v1/accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Get()
  @Allow('admin', 'reconcile', 'audit')
  @ApiSummary('List the upstream accounts', 'Includes accounts that only clients name.')
  @ApiResponse({ status: 200, type: AccountsDto, description: 'The accounts.' })
  @ApiKeyProblems()
  async listAccounts(): Promise<AccountsDto> {
    return { accounts: await this.accounts.list() };
  }
}
