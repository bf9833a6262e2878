import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows, showsCall, showsCalls } from '../../access/auth/shows';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { requireMaySearchPeople } from './people-search';
import { CallPage } from '../records/record.dto';
import { RecordsService } from '../records/records.service';
import { CallSearch } from './search.dto';
import { SearchService } from './search.service';
import { CallStory } from '../story/story.dto';
import { StoryService } from '../story/story.service';

@ApiTags('Audit')
@ApiSecurity('key')
@Controller('v1/audit/calls')
export class CallsController {
  constructor(
    private readonly searching: SearchService,
    private readonly records: RecordsService,
    private readonly stories: StoryService,
  ) {}

  @Get()
  @Allow('audit')
  @Shows(({ calls }: CallPage) => showsCalls(calls))
  @ApiOperation({
    summary: 'Search the history',
    operationId: 'searchCalls',
    description: 'Scope `audit`. Searching by recipient also requires `audit:pii`.',
  })
  @ApiResponse({ status: 200, type: CallPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async search(@CurrentCall() call: AuthenticatedCall, @Query() search: CallSearch): Promise<CallPage> {
    requireMaySearchPeople(call, search);
    const { rows, nextPageToken } = await this.searching.search(search);
    const ids = rows.map(({ id }) => id);
    const calls = await this.records.list(ids, mayReveal(call));
    return { calls, next_page_token: nextPageToken };
  }

  @Get(':id')
  @Allow('audit')
  @Shows(showsCall)
  @ApiOperation({
    summary: 'Read one call',
    operationId: 'readAuditCall',
    description: 'Scope `audit`. Returns everything on record about the call, including its readers.',
  })
  @ApiParam({
    name: 'id',
    schema: { type: 'string', format: 'uuid' },
    description: 'ID of the call: the `X-Call-Id` of its answer.',
  })
  @ApiResponse({ status: 200, type: CallStory, description: 'The call.' })
  @ApiKeyProblems('call_not_found')
  async one(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<CallStory> {
    const record = isUuid(id) && (await this.stories.one(id, mayReveal(call)));
    if (!record) throw new Problem('call_not_found', { text: 'No call has this ID.' });
    return record;
  }
}
