import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { CallPage, FullCallRecord, RecordResolution } from '../records/record.dto';
import { RecordsService } from '../records/records.service';
import { SearchService } from '../search/search.service';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { requireSomebodyElse } from '../../access/auth/four-eyes';
import { Shows, showsCall } from '../../access/auth/shows';
import { Loaded } from '../../platform/config/config.module';
import { PrismaService } from '../../platform/database/prisma.service';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { insertResolution } from '../../journal/resolutions';
import { CallState, Resolution, RESOLUTIONS } from '../../operations/lifecycle';
import { OwnCallSearch, ResolutionDto } from './own-calls.dto';

const OWN_CALL = 'You cannot settle your own call. Settling requires another client, another key, and another person.';

/** Apps read their own calls here. Approvers settle calls in doubt here. */
@ApiTags('Calls')
@ApiSecurity('key')
@Controller('v1/calls')
export class OwnCallsController {
  constructor(
    private readonly searching: SearchService,
    private readonly records: RecordsService,
    private readonly prisma: PrismaService,
    private readonly config: ConfigService<Loaded, true>,
  ) {}

  @Get()
  @Allow('pay', 'write', 'read')
  @ApiOperation({
    summary: 'Find your own calls',
    operationId: 'listCalls',
    description:
      'Scope `pay`, `write` or `read`. Lists only calls of your client. After a lost connection, search by the ' +
      '`idempotency_key` of the request.',
  })
  @ApiResponse({ status: 200, type: CallPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async list(@CurrentCall() { caller, masked }: AuthenticatedCall, @Query() search: OwnCallSearch): Promise<CallPage> {
    const { rows, nextPageToken } = await this.searching.search(search, 'calls', caller.clientId);
    const ids = rows.map(({ id }) => id);
    return { calls: await this.records.list(ids, !masked), next_page_token: nextPageToken };
  }

  @Get(':id')
  @Allow('pay', 'write', 'read')
  @ApiOperation({
    summary: 'Read the outcome of a call',
    operationId: 'readCall',
    description: 'Scope `pay`, `write` or `read`. Finds only calls of your client.',
  })
  @ApiParam({
    name: 'id',
    schema: { type: 'string', format: 'uuid' },
    description: 'ID of the call: the `X-Call-Id` of its answer.',
  })
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call.' })
  @ApiKeyProblems('call_not_found')
  async one(@CurrentCall() { caller, masked }: AuthenticatedCall, @Param('id') id: string): Promise<FullCallRecord> {
    const record = isUuid(id) && (await this.records.one(id, !masked, caller.clientId));
    if (!record) throw new Problem('call_not_found');
    return record;
  }

  @Post(':id/resolution')
  @HttpCode(200)
  @Allow('approve')
  @Shows(showsCall)
  @ApiOperation({
    summary: 'Settle a call in doubt, or correct its resolution',
    operationId: 'resolveCall',
    description:
      'Scope `approve`. Settles a call of any client whose `outcome` is `unknown`. Nobody can settle their own call. With ' +
      '`supersedes`, it corrects an earlier resolution by a person or by the proxy. The earlier resolution stays on record, ' +
      'and the reservation follows the new outcome, even over a cap. Outcomes that the upstream answered (`succeeded`, ' +
      '`rejected`) cannot be corrected.',
  })
  @ApiParam({
    name: 'id',
    schema: { type: 'string', format: 'uuid' },
    description: 'ID of the call: the `X-Call-Id` of its answer.',
  })
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call, settled.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'call_not_found', 'not_in_doubt', 'resolution_superseded')
  async resolve(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
    @Body() { outcome, reason, supersedes: named }: ResolutionDto,
  ): Promise<FullCallRecord> {
    const found = await this.any(id, true);
    const asked = { clientId: found.client.id, keyId: found.key_id, actor: found.actor };
    const by = requireSomebodyElse(call, asked, OWN_CALL);
    const supersedes = named?.toLowerCase() ?? null;
    requireUnsettled(found, supersedes, outcome);
    const resolution = { intentId: id, supersedes, outcome, reason, by };
    const settled = await insertResolution(this.prisma, resolution, this.config.get('settings', { infer: true }));
    const record = await this.any(id, mayReveal(call));
    if (settled) return record;
    throw supersedes !== null && record.resolution ? supersededBy(record.resolution) : notInDoubt(record);
  }

  private async any(id: string, reveal: boolean): Promise<FullCallRecord> {
    const record = isUuid(id) && (await this.records.one(id, reveal));
    if (!record) throw new Problem('call_not_found', { text: 'No call has this ID.' });
    return record;
  }
}

/**
 * Requires that a call is in doubt. With `supersedes`, requires that this resolution is in effect and has another
 * outcome.
 * @throws Problem `not_in_doubt`, `resolution_superseded` or `invalid_request`.
 */
function requireUnsettled(found: FullCallRecord, supersedes: string | null, asked: Resolution): void {
  const { outcome, resolution } = found;
  if (supersedes === null) {
    if (outcome === 'unknown') return;
    throw notInDoubt(found);
  }
  if (!isSettled(outcome) || !resolution) {
    const text =
      "Only a call that was settled as confirmed or not_executed can be corrected. The upstream's own response is final.";
    throw new Problem('not_in_doubt', { text });
  }
  if (resolution.id !== supersedes) throw supersededBy(resolution);
  if (outcome === asked) {
    const detail = `must differ from ${outcome}, because the call is already settled with this outcome`;
    throw new Problem('invalid_request', { faults: [{ pointer: '/outcome', detail }] });
  }
}

function isSettled(outcome: CallState): boolean {
  return RESOLUTIONS.some((resolution) => resolution === outcome);
}

function notInDoubt({ outcome, resolution }: FullCallRecord): Problem {
  if (!isSettled(outcome) || !resolution) return new Problem('not_in_doubt');
  const text = `The call is settled as ${resolution.outcome}. To correct the resolution, send "supersedes": "${resolution.id}".`;
  return new Problem('not_in_doubt', { text });
}

function supersededBy({ id, outcome }: RecordResolution): Problem {
  const text = `The call is now settled as ${outcome}, by resolution ${id}. Nothing was changed. Read the call again.`;
  return new Problem('resolution_superseded', { text });
}
