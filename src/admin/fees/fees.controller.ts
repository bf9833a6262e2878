import { Controller, Delete, Get, Logger, Param, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { AuthenticatedCall, changeAuthorOf, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import { StepUp } from '../../access/auth/step-up';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { ExpectedFees } from '../../journal/admission/expected-fees';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiSummary } from '../../platform/schema/routes';
import { FeeRemoval, Fees, ForgottenFees, toFeeRecords } from './fees.dto';
import { FeesService } from './fees.service';

/** Shows the fees that are reserved with payouts, and forgets learned ones. */
@ApiTags('Fees')
@ApiExtraModels(WaitingDto)
@Controller('v1/fees')
export class FeesController {
  private readonly logger = new Logger('Fees');

  constructor(
    private readonly expected: ExpectedFees,
    private readonly fees: FeesService,
    private readonly dualControl: DualControlService,
  ) {}

  @Get()
  @Allow('admin')
  @ApiSummary(
    'List expected fees',
    'The configured rules of this instance, and the learned fees of operations without a rule.',
  )
  @ApiResponse({ status: 200, type: Fees, description: 'The expected fees.' })
  @ApiKeyProblems()
  async listFees(): Promise<Fees> {
    return { fees: (await this.expected.list()).flatMap(toFeeRecords) };
  }

  @Delete(':account')
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Forget learned fees',
    'The proxy does not reserve the learned fees of this operation and account any more, on every instance ' +
      'at once, and learns them anew. More may be spent until then, so with dual control this waits for a ' +
      'second person.',
  )
  @ApiParam({ name: 'account', schema: { type: 'string' }, description: 'Upstream account, such as `main`.' })
  @ApiResponse({ status: 200, type: ForgottenFees, description: 'The fees were forgotten.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems('fees_not_found', 'invalid_request', 'step_up_required', 'personal_key_required')
  async forgetFees(
    @CurrentCall() call: AuthenticatedCall,
    @Param('account') account: string,
    @Query() { operation, reason }: FeeRemoval,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ForgottenFees | WaitingDto> {
    const [fees, by] = [{ account, operation }, changeAuthorOf(call, reason)];
    if (this.dualControl.isOn && (await this.fees.hasLearned(fees))) {
      const change = { permissions: {}, fees };
      const pending = { kind: 'forget_fees', client: null, expands: ['fees'], before: null, change } as const;
      return pendingResponse(await this.dualControl.request(pending, by), reply);
    }
    const forgotten = await this.fees.forget(fees, by);
    if (!forgotten) throw new Problem('fees_not_found');
    this.logger.warn({ call_id: call.id, account, operation }, 'learned fees forgotten');
    return { forgotten };
  }
}
