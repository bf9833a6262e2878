import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags, ApiParam } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { AuthenticatedCall, changeAuthorOf, CurrentCall, mayReveal } from '../../access/auth/call';
import { FourEyesService } from '../../access/auth/four-eyes';
import { ownView, OwnView } from '../../access/auth/owner';
import { Allow, Shows, showsCall, showsNoPeople } from '../../access/auth/route-access';
import { StepUpService } from '../../access/auth/step-up';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { readRequester } from '../../access/people/same-person';
import { disconnectSignal } from '../../http/connections/caller-disconnected';
import { TakesTurn } from '../../http/quotas/turn-interceptors';
import { callsNamed } from '../../journal/lookups/search-names';
import { PayoutPlace, payoutIdOf, readPayoutId } from '../../operations/catalogue/payout-id';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { maskProse } from '../../platform/privacy/contacts';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { ledgerEntriesOf } from '../records/items';
import { FoundPayout } from '../records/record-parts.dto';
import { CallPage, FullCallRecord } from '../records/record.dto';
import { RecordsService } from '../records/records.service';
import { shown } from '../records/view';
import { termsOf } from '../search/filters';
import { IndexService } from '../search/index.service';
import { SearchService } from '../search/search.service';
import { OwnCallQuery, OwnCallSearch, ResolutionDto, PayoutRecord } from './own-calls.dto';
import { SettlementsByHandService } from './settlements-by-hand.service';
import { WaitsService } from './waits.service';

const OWN_CALL =
  'You cannot settle your own call. Settling requires another client, another key, and another person.';

/** Serves apps their own calls, and lets approvers settle calls in doubt. */
@ApiTags('Calls')
@ApiExtraModels(FoundPayout, WaitingDto)
@Controller('v1/calls')
export class OwnCallsController {
  constructor(
    private readonly searching: SearchService,
    private readonly records: RecordsService,
    private readonly prisma: PrismaService,
    private readonly settlements: SettlementsByHandService,
    private readonly waits: WaitsService,
    private readonly stepUp: StepUpService,
    private readonly fourEyes: FourEyesService,
  ) {}

  @Get()
  @Allow('pay', 'write', 'read')
  @TakesTurn('own_calls')
  @ApiSummary(
    'Find your own calls',
    'Lists only calls of your client, and of your person if the key is personal. People are masked without ' +
      '`read`. After a lost connection, search by the `idempotency_key` of the request. `state=queued` ' +
      'lists the calls that wait for their turn.',
  )
  @ApiResponse({ status: 200, type: CallPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async listCalls(@CurrentCall() call: AuthenticatedCall, @Query() search: OwnCallSearch): Promise<CallPage> {
    const { owner, reveal } = ownView(call);
    const { state: outcome, ...others } = search;
    const filters = { ...others, ...(outcome && { outcome }) };
    const { rows, nextPageToken } = await this.searching.search(filters, 'calls', {
      owner,
      gone: call.disconnected,
    });
    const ids = rows.map(({ id }) => id);
    return { calls: await this.records.list(ids, reveal, { owner }), next_page_token: nextPageToken };
  }

  @Get(':id')
  @Allow('pay', 'write', 'read')
  @ApiSummary(
    'Read the outcome of a call',
    'Finds only your own calls. People are masked without `read`. With `wait`, the response comes at the ' +
      'next change of a call that is queued, in progress, in doubt, or pending approval, or of its payouts.',
  )
  @ApiId('ID of the call: the `X-Call-Id` of its answer.')
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call.' })
  @ApiKeyProblems('invalid_request', 'call_not_found', 'readers_busy')
  async readCall(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
    @Query() { wait: seconds = 0 }: OwnCallQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FullCallRecord> {
    const { owner, reveal } = ownView(call);
    const read = async () => {
      const record = isUuid(id) && (await this.records.readCall(id, reveal, owner));
      if (!record) throw new Problem('call_not_found');
      return record;
    };
    return this.waits.changeOf(call, { seconds, gone: disconnectSignal(reply) }, read);
  }

  @Post(':id/resolution')
  @HttpCode(200)
  @Allow('approve')
  @Shows((shown: FullCallRecord | WaitingDto) => ('id' in shown ? showsCall(shown) : showsNoPeople([])))
  @ApiSummary(
    'Settle payouts in doubt, or correct their records',
    'Settles the payouts in doubt of a call of any client: all of them, or those in `payouts`. The ' +
      'requester cannot settle the call. With `supersedes`, corrects the records, including the answer of ' +
      'the upstream. Earlier settlements stay on record. The reservation follows the newest one, even over ' +
      'a cap. With dual control, a settlement that gives an amount or a key back waits for a second person.',
  )
  @ApiId('ID of the call: the `X-Call-Id` of its answer.')
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call, settled.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(
    'invalid_request',
    'own_approval',
    'personal_key_required',
    'call_not_found',
    'not_in_doubt',
    'resolution_superseded',
    'step_up_required',
    'instance_fenced',
  )
  async resolveCall(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
    @Body() body: ResolutionDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FullCallRecord | WaitingDto> {
    const found = await this.requireCall(id, true);
    const requester = await readRequester(this.prisma, { ...found, client_id: found.client.id });
    const by = await this.fourEyes.require(call, requester, OWN_CALL);
    this.stepUp.requireOver(call, found.total_usd ?? undefined);
    const waiting = await this.settlements.settle(id, body, by, changeAuthorOf(call, body.reason));
    return waiting ? pendingResponse(waiting, reply) : this.requireCall(id, mayReveal(call));
  }

  private async requireCall(id: string, reveal: boolean): Promise<FullCallRecord> {
    const record = isUuid(id) && (await this.records.readCall(id, reveal));
    if (!record) throw new Problem('call_not_found', { text: 'No call has this ID.' });
    return record;
  }
}

/** Serves apps the state of each of their payouts. */
@ApiTags('Payouts')
@Controller('v1/payouts')
export class PayoutStatesController {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly index: IndexService,
    private readonly records: RecordsService,
  ) {}

  @Get(':id')
  @Allow('pay', 'write', 'read')
  @ApiSummary(
    'Read a payout',
    'Finds only your own payouts. People are masked without `read`. The state follows the ledger. It ' +
      'changes if the upstream fails, reverses or refunds a payout later.',
  )
  @ApiParam({
    name: 'id',
    schema: { type: 'string' },
    description:
      'The `payout_id` of an item (`<call ID>.<position>`), the ID of a call with one payout, or the ' +
      "upstream's reference of its transaction.",
  })
  @ApiResponse({ status: 200, type: PayoutRecord, description: 'The payout.' })
  @ApiKeyProblems('payout_not_found')
  async readPayout(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<PayoutRecord> {
    const payout = await this.findPayout(id, ownView(call));
    if (!payout) throw new Problem('payout_not_found');
    return payout;
  }

  /**
   * Reads a payout of a key's own calls.
   * @param id ID of the payout, ID of a call with one payout, or the upstream's reference of its transaction.
   */
  private async findPayout(id: string, view: OwnView): Promise<PayoutRecord | undefined> {
    const payoutId = readPayoutId(id);
    const found = payoutId && (await this.payoutAt(payoutId, view, id.includes('.')));
    return found ?? (id.includes('.') ? undefined : this.payoutByReference(id, view));
  }

  /** @param isExact whether the ID has a position. Calls with several payouts require one. */
  private async payoutAt(
    { callId, position }: PayoutPlace,
    { owner, reveal }: OwnView,
    isExact: boolean,
  ): Promise<PayoutRecord | undefined> {
    const found = await this.records.findCall(callId, reveal, owner);
    const item = found?.record.items[position];
    const payout = found?.stored?.payouts[position];
    if (!found?.stored || !item || !payout || (!isExact && found.record.item_count > 1)) return undefined;
    const { id: call_id, operation, outcome } = found.record;
    return {
      id: payoutIdOf(call_id, position),
      call_id,
      operation,
      outcome,
      position,
      state: item.state,
      next: item.next,
      amount_usd: item.amount_usd,
      fee_usd: item.fee_usd,
      reason: shown(payout.reason, reveal, maskProse),
      item,
      ledger: ledgerEntriesOf(found.stored, payout, reveal),
    };
  }

  /** Finds a payout by the upstream's reference. */
  private async payoutByReference(upstreamRef: string, view: OwnView): Promise<PayoutRecord | undefined> {
    await this.index.catchUp();
    const rows = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT call_id::text AS id FROM indexed_call
      WHERE call_id = ANY (${callsNamed('transaction', [upstreamRef])})
        AND terms @> ${termsOf(view.owner)}::text[]
      ORDER BY call_id LIMIT 10`;
    for (const { id } of rows) {
      const found = await this.records.findCall(id, view.reveal, view.owner);
      const payout = found?.stored?.payouts.find(
        ({ transaction }) => transaction?.upstream_ref === upstreamRef,
      );
      if (payout) return this.payoutAt({ callId: id, position: payout.position }, view, true);
    }
    return undefined;
  }
}
