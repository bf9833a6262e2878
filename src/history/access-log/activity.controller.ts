import { Controller, Get, Query } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ActivityPage, ActivitySearch } from './activity.dto';
import { ActivityService } from './activity.service';
import { RecordClient } from '../records/record.dto';

@ApiTags('Audit')
@ApiSecurity('key')
@ApiExtraModels(RecordClient)
@Controller('v1/activity')
export class ActivityController {
  constructor(private readonly activity: ActivityService) {}

  @Get()
  @Allow('audit', 'admin')
  @Shows(({ activity }: ActivityPage) => ({ rows: activity.length, people: activity.length > 0 }))
  @ApiOperation({
    summary: 'List administrative acts',
    operationId: 'listActivity',
    description:
      'Scope `audit` or `admin`. Lists stops, deletions from the history, and changes of clients and keys with their state before and ' +
      'after. The log seals every act.',
  })
  @ApiResponse({ status: 200, type: ActivityPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async search(@CurrentCall() call: AuthenticatedCall, @Query() search: ActivitySearch): Promise<ActivityPage> {
    return this.activity.search(search, mayReveal(call));
  }
}
