import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Call } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/forwarding/operation.decorator';
import { CollectPaymentDto, VerifyPaymentDto } from './collections.dto';

@ApiTags('Collections')
@Controller()
export class CollectionsController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /collections/mobile-money/collect', 'Collect a mobile money payment')
  collectMobileMoney(@CurrentCall() call: Call, @Body() body: CollectPaymentDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /collections/mobile-money/initiate', 'Initiate a mobile money payment')
  initiateMobileMoneyCollection(@CurrentCall() call: Call, @Body() body: CollectPaymentDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /collections/mobile-money/verify', 'Verify a mobile money payment')
  verifyMobileMoneyCollection(@CurrentCall() call: Call, @Body() body: VerifyPaymentDto) {
    return this.forwarding.run(call, body);
  }
}
