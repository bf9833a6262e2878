import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { AuthenticatedCall, Author, changeAuthorOf, CurrentCall, mayReveal } from '../../access/auth/call';
import { FourEyesService } from '../../access/auth/four-eyes';
import { Allow, Shows, showsCall, ShownHistory } from '../../access/auth/route-access';
import { StepUpService } from '../../access/auth/step-up';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { readRequester } from '../../access/people/same-person';
import { FullCallRecord } from '../../history/records/record.dto';
import { RecordsService } from '../../history/records/records.service';
import { PayoutPlace, readPayoutId } from '../../operations/catalogue/payout-id';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiSummary } from '../../platform/schema/routes';
import { AttributionDto, BookSearch, BookTransactions } from './attributions.dto';
import { AttributionsService } from './attributions.service';

const OWN_CALL =
  'You cannot attribute transactions to payouts of your own call, or take them away. Attributing requires ' +
  'another client, another key, and another person.';

/** Shows the transactions of the book, and lets approvers attribute them to payouts. */
@ApiTags('Reconciliation')
@ApiExtraModels(WaitingDto)
@Controller('v1/reconciliation')
export class AttributionsController {
  constructor(
    private readonly attributions: AttributionsService,
    private readonly records: RecordsService,
    private readonly prisma: PrismaService,
    private readonly fourEyes: FourEyesService,
    private readonly stepUp: StepUpService,
  ) {}

  @Get('transactions')
  @Allow('approve', 'reconcile', 'audit')
  @Shows(({ transactions }: BookTransactions) => showsTransactions(transactions))
  @ApiSummary(
    'Find transactions of the book',
    "Finds the upstream's transactions by name, or those of the payouts of a call. Without `name` and " +
      '`call_id`, lists the newest transactions without a payout.',
  )
  @ApiResponse({ status: 200, type: BookTransactions, description: 'The transactions.' })
  @ApiKeyProblems('invalid_request')
  async findTransactions(
    @Query() { account = MAIN_ACCOUNT, name, call_id: callId }: BookSearch,
  ): Promise<BookTransactions> {
    return { transactions: await this.attributions.find({ account, name, callId }) };
  }

  @Post('attributions')
  @HttpCode(200)
  @Allow('approve')
  @Shows((shown: FullCallRecord | WaitingDto) => ('id' in shown ? showsCall(shown) : showsTransactions([])))
  @ApiSummary(
    'Attribute a transaction to a payout',
    'The state of the payout follows from the transaction from then on. A transaction with another ' +
      'recipient or type is rejected. Another amount is recorded. A payout that loses its transaction is ' +
      'in doubt. The requester of the payout cannot attribute. With dual control, this waits for a second ' +
      'person.',
  )
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call of the payout, settled.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(
    ...(['invalid_request', 'own_approval', 'personal_key_required', 'step_up_required'] as const),
    ...(['call_not_found', 'transaction_not_found', 'attribution_contradicted'] as const),
    ...(['resolution_superseded', 'instance_fenced'] as const),
  )
  async attributeTransaction(
    @CurrentCall() call: AuthenticatedCall,
    @Body() { payout_id: payoutId, transaction_id: id, supersedes = [], reason }: AttributionDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FullCallRecord | WaitingDto> {
    const transactionId = id.toLowerCase();
    const payout = readPayoutId(payoutId) as PayoutPlace;
    const places = supersedes.flatMap((text) => readPayoutId(text) ?? []);
    const by = await this.requireDecider(call, payout.callId);
    for (const { callId } of places) await this.requireDecider(call, callId);
    const request = { ...payout, transactionId, supersedes: places };
    const author = changeAuthorOf(call, reason);
    const waiting = await this.attributions.attribute(request, { ...by, reason }, author);
    return waiting ? pendingResponse(waiting, reply) : this.requireCall(payout.callId, mayReveal(call));
  }

  /** Requires a decider other than the requester of a call. */
  private async requireDecider(call: AuthenticatedCall, callId: string): Promise<Author> {
    const found = await this.requireCall(callId, true);
    const requester = await readRequester(this.prisma, { ...found, client_id: found.client.id });
    const by = await this.fourEyes.require(call, requester, OWN_CALL);
    this.stepUp.requireOver(call, found.total_usd ?? undefined);
    return by;
  }

  private async requireCall(id: string, reveal: boolean): Promise<FullCallRecord> {
    const record = await this.records.readCall(id, reveal);
    if (!record) throw new Problem('call_not_found', { text: 'No call has this ID.' });
    return record;
  }
}

function showsTransactions(transactions: BookTransactions['transactions']): ShownHistory {
  const callIds = transactions.flatMap(({ payout_id: id }) => (id && readPayoutId(id)?.callId) ?? []);
  return { rows: transactions.length, callIds: [...new Set(callIds)], people: false };
}
