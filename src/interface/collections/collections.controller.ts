import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import { CollectPaymentDto, VerifyPaymentDto } from './collections.dto';

@ApiTags('Collections')
@Controller()
export class CollectionsController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /collections/mobile-money/collect')
  collectMobileMoney(@CurrentCall() call: OperationCall, @Body() body: CollectPaymentDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /collections/mobile-money/initiate')
  initiateMobileMoneyCollection(@CurrentCall() call: OperationCall, @Body() body: CollectPaymentDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /collections/mobile-money/verify')
  verifyMobileMoneyCollection(@CurrentCall() call: OperationCall, @Body() body: VerifyPaymentDto) {
    return this.forwarding.run(call, body);
  }
}
