import { Controller, Get, Query } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { AccessEndRecord, AccessPage, AccessSearch } from './accesses.dto';
import { AccessesService } from './accesses.service';
import { RecordClient } from '../records/record.dto';
import { ApiSummary } from '../../platform/schema/routes';

@ApiTags('Audit')
@ApiExtraModels(AccessEndRecord, RecordClient)
@Controller('v1/audit/accesses')
export class AccessesController {
  constructor(private readonly accesses: AccessesService) {}

  @Get()
  @Allow('audit')
  @Shows(({ accesses }: AccessPage) => ({ rows: accesses.length, people: accesses.length > 0 }))
  @ApiSummary('List reads of the history', 'The list also records its own reads.')
  @ApiResponse({ status: 200, type: AccessPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listAccesses(@CurrentCall() call: AuthenticatedCall, @Query() search: AccessSearch): Promise<AccessPage> {
    const { rows, nextPageToken } = await this.accesses.search(search, mayReveal(call));
    return { accesses: rows, next_page_token: nextPageToken };
  }
}
