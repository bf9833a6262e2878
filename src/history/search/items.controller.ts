import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows, showsCalls, showsNobody } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { requireMaySearchPeople } from './people-search';
import { ItemPage } from '../records/record.dto';
import { RecordsService } from '../records/records.service';
import { ItemSearch } from './search.dto';
import { SearchService } from './search.service';
import { Summary, SummarySearch } from './summary.dto';
import { SummaryService } from './summary.service';

/** Searches payouts, and counts the history. */
@ApiTags('Audit')
@ApiSecurity('key')
@Controller('v1/audit')
export class ItemsController {
  constructor(
    private readonly searching: SearchService,
    private readonly records: RecordsService,
    private readonly summaries: SummaryService,
  ) {}

  @Get('items')
  @Allow('audit')
  @Shows(({ items }: ItemPage) => showsCalls(items))
  @ApiOperation({
    summary: 'Search the history by payouts',
    operationId: 'searchItems',
    description:
      'Scope `audit`. Returns one result for each payout, with the fields of its call. Searching by recipient also requires ' +
      '`audit:pii`.',
  })
  @ApiResponse({ status: 200, type: ItemPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async items(@CurrentCall() call: AuthenticatedCall, @Query() search: ItemSearch): Promise<ItemPage> {
    requireMaySearchPeople(call, search);
    const { rows, nextPageToken } = await this.searching.search(search, 'items');
    return { items: await this.records.items(rows, mayReveal(call)), next_page_token: nextPageToken };
  }

  @Get('summary')
  @Allow('audit')
  @Shows(({ groups }: Summary) => showsNobody(groups))
  @ApiOperation({
    summary: 'Count the history',
    operationId: 'summarizeHistory',
    description:
      'Scope `audit`. Counts and sums the calls and payouts that match, with response times of the upstream. ' +
      'Searching by recipient also requires `audit:pii`.',
  })
  @ApiResponse({ status: 200, type: Summary, description: 'The summary.' })
  @ApiKeyProblems('invalid_request')
  async summary(@CurrentCall() call: AuthenticatedCall, @Query() search: SummarySearch): Promise<Summary> {
    requireMaySearchPeople(call, search);
    return this.summaries.summarize(search, mayReveal(call));
  }
}
