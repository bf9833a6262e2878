import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticatedCall, CurrentCall, mayReveal } from '../../access/auth/call';
import { Allow, Shows, showsCall, showsCalls, showsNoPeople } from '../../access/auth/route-access';
import { QuotasService } from '../../http/quotas/quotas.service';
import { TakesTurn } from '../../http/quotas/turn-interceptors';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { CallPage, ItemPage } from '../records/record.dto';
import { RecordsService } from '../records/records.service';
import { CallTimeline } from '../timeline/timeline.dto';
import { TimelineService } from '../timeline/timeline.service';
import { CallSearch } from './search.dto';
import { requireMaySearchPeople, SearchService } from './search.service';
import { Summary, SummarySearch } from './summary.dto';
import { SummaryService } from './summary.service';

/** Searches calls and payouts, and counts the history. */
@ApiTags('Audit')
@Controller('v1/audit')
export class SearchController {
  constructor(
    private readonly searching: SearchService,
    private readonly records: RecordsService,
    private readonly timelines: TimelineService,
    private readonly summaries: SummaryService,
    private readonly quotas: QuotasService,
  ) {}

  @Get('calls')
  @Allow('audit')
  @TakesTurn('searches')
  @Shows(({ calls }: CallPage) => showsCalls(calls))
  @ApiSummary('Search the history', 'Searching by recipient also requires `audit:pii`.')
  @ApiResponse({ status: 200, type: CallPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async searchCalls(@CurrentCall() call: AuthenticatedCall, @Query() search: CallSearch): Promise<CallPage> {
    requireMaySearchPeople(call, search);
    const { rows, nextPageToken } = await this.searching.search(search, 'calls', { gone: call.disconnected });
    const ids = rows.map(({ id }) => id);
    return {
      calls: await this.records.list(ids, mayReveal(call), { pace: this.quotas.paceOf(call) }),
      next_page_token: nextPageToken,
    };
  }

  @Get('calls/:id')
  @Allow('audit')
  @Shows(showsCall)
  @ApiSummary('Read one call', 'Returns all records of the call, including its readers.')
  @ApiId('ID of the call: the `X-Call-Id` of its answer.')
  @ApiResponse({ status: 200, type: CallTimeline, description: 'The call.' })
  @ApiKeyProblems('call_not_found')
  async readAuditCall(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
  ): Promise<CallTimeline> {
    const record = isUuid(id) && (await this.timelines.read(id, mayReveal(call)));
    if (!record) throw new Problem('call_not_found', { text: 'No call has this ID.' });
    return record;
  }

  @Get('items')
  @Allow('audit')
  @TakesTurn('searches')
  @Shows(({ items }: ItemPage) => showsCalls(items))
  @ApiSummary(
    'Search the history by payouts',
    'Returns one result for each payout, with the fields of its call. Searching by recipient also requires ' +
      '`audit:pii`.',
  )
  @ApiResponse({ status: 200, type: ItemPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async searchItems(@CurrentCall() call: AuthenticatedCall, @Query() search: CallSearch): Promise<ItemPage> {
    requireMaySearchPeople(call, search);
    const { rows, nextPageToken } = await this.searching.search(search, 'items', { gone: call.disconnected });
    return {
      items: await this.records.listItems(rows, mayReveal(call), this.quotas.paceOf(call)),
      next_page_token: nextPageToken,
    };
  }

  @Get('summary')
  @Allow('audit')
  @TakesTurn('searches')
  @Shows(({ groups }: Summary) => showsNoPeople(groups))
  @ApiSummary(
    'Count the history',
    'Counts and sums the matching calls and payouts, with response times of the upstream. Searching by ' +
      'recipient also requires `audit:pii`.',
  )
  @ApiResponse({ status: 200, type: Summary, description: 'The summary.' })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async summarizeHistory(
    @CurrentCall() call: AuthenticatedCall,
    @Query() search: SummarySearch,
  ): Promise<Summary> {
    requireMaySearchPeople(call, search);
    const rests = this.quotas.isPaying;
    if (rests) call.restedMs = Infinity; // Within its statement.
    return this.summaries.summarize(search, { reveal: mayReveal(call), gone: call.disconnected, rests });
  }
}
