import { Controller, Get, Param } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { PayoutRecord } from './payout.dto';
import { ownView } from '../../access/auth/owner';
import { PayoutsService } from './payouts.service';
import { ApiSummary } from '../../platform/schema/routes';

/** Apps read here what became of each of their payouts. */
@ApiTags('Payouts')
@Controller('v1/payouts')
export class PayoutStatesController {
  constructor(private readonly payouts: PayoutsService) {}

  @Get(':id')
  @Allow('pay', 'write', 'read')
  @ApiSummary(
    'Read what became of a payout',
    'Finds only your own payouts. People are masked without `read`. The state follows the settlement ledger, so it ' +
      'changes if the upstream fails, reverses or refunds a payout later.',
  )
  @ApiParam({
    name: 'id',
    schema: { type: 'string' },
    description:
      "The `payout_id` of an item (`<call ID>.<position>`), the ID of a call with one payout, or the upstream's reference of its transaction.",
  })
  @ApiResponse({ status: 200, type: PayoutRecord, description: 'The payout.' })
  @ApiKeyProblems('payout_not_found')
  async readPayout(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<PayoutRecord> {
    const payout = await this.payouts.one(id, ownView(call));
    if (!payout) throw new Problem('payout_not_found');
    return payout;
  }
}
