import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { CallPage, FullCallRecord } from '../audit/record.dto';
import { RecordsService } from '../audit/records.service';
import { SearchService } from '../audit/search.service';
import { Allow } from '../auth/allow';
import { Call, Caller, mayReveal } from '../auth/call';
import { CurrentCall } from '../auth/current-call';
import { requireSomebodyElse } from '../auth/four-eyes';
import { Shows, showsCall } from '../auth/shows';
import { isUuid } from '../database/uuid';
import { ApiKeyProblems } from '../errors/api-problems';
import { Problem } from '../errors/problem';
import { JournalService } from '../journal/journal.service';
import { OwnCallSearch, ResolutionDto } from './calls.dto';

const OWN_CALL =
  'Nobody settles a call that they asked for themselves: this needs another client, another key and another person.';

/** What became of calls. */
@ApiTags('Calls')
@ApiSecurity('key')
@Controller('v1/calls')
export class CallsController {
  constructor(
    private readonly searching: SearchService,
    private readonly records: RecordsService,
    private readonly journal: JournalService,
  ) {}

  @Get()
  @Allow('pay', 'write', 'read')
  @ApiOperation({
    summary: 'Find your own calls',
    operationId: 'listCalls',
    description:
      'Scope `pay`, `write` or `read`; only calls of the same client are found. After a lost connection, ask with the ' +
      '`idempotency_key` of the request.',
  })
  @ApiResponse({ status: 200, type: CallPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async list(@CurrentCall() { caller, masked }: Call, @Query() search: OwnCallSearch): Promise<CallPage> {
    const { rows, nextPageToken } = await this.searching.search(search, 'calls', (caller as Caller).clientId);
    const ids = rows.map(({ id }) => id);
    return { calls: await this.records.list(ids, !masked), next_page_token: nextPageToken };
  }

  @Get(':id')
  @Allow('pay', 'write', 'read')
  @ApiOperation({
    summary: 'What became of a call',
    operationId: 'readCall',
    description: 'Scope `pay`, `write` or `read`; only calls of the same client are found.',
  })
  @ApiParam({ name: 'id', schema: { type: 'string', format: 'uuid' }, description: 'The `X-Call-Id` of its answer.' })
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call.' })
  @ApiKeyProblems('call_not_found')
  async one(@CurrentCall() { caller, masked }: Call, @Param('id') id: string): Promise<FullCallRecord> {
    const record = isUuid(id) && caller && (await this.records.one(id, !masked, caller.clientId));
    if (!record) throw new Problem('call_not_found');
    return record;
  }

  @Post(':id/resolution')
  @HttpCode(200)
  @Allow('approve')
  @Shows(showsCall)
  @ApiOperation({
    summary: 'Settle a call in doubt',
    operationId: 'resolveCall',
    description:
      'Scope `approve`. Once, for a call of any client whose `outcome` is `unknown`, by somebody else than who asked for it.',
  })
  @ApiParam({ name: 'id', schema: { type: 'string', format: 'uuid' }, description: "The call's id." })
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call, settled.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'call_not_found', 'not_in_doubt')
  async resolve(
    @CurrentCall() call: Call,
    @Param('id') id: string,
    @Body() { verdict, reason }: ResolutionDto,
  ): Promise<FullCallRecord> {
    const found = await this.any(id, true);
    const asked = { clientId: found.client.id, keyId: found.key_id, actor: found.actor };
    const by = requireSomebodyElse(call, asked, OWN_CALL);
    const settled = found.outcome === 'unknown' && (await this.journal.resolve({ intentId: id, verdict, reason, by }));
    if (!settled) throw new Problem('not_in_doubt');
    return this.any(id, mayReveal(call));
  }

  private async any(id: string, reveal: boolean): Promise<FullCallRecord> {
    const record = isUuid(id) && (await this.records.one(id, reveal));
    if (!record) throw new Problem('call_not_found', { text: 'There is no call with this id.' });
    return record;
  }
}
