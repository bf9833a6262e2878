import { Body, Controller } from '@nestjs/common';
import { CurrentCall, OperationCall } from '../../../../src/access/auth/call';
import { ForwardingService } from '../../../../src/gateway/forwarding/forwarding.service';
import { Operation } from '../../../../src/gateway/operation.decorator';
import { OperationName } from '../../../../src/operations/catalogue/catalogue';
import { GiftCardPayoutDto } from './dto';

@Controller()
export class GiftCardsController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /payouts/gift-card' as OperationName)
  giftCards(@CurrentCall() call: OperationCall, @Body() body: GiftCardPayoutDto) {
    return this.forwarding.run(call, body);
  }
}
