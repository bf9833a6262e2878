import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import {
  AirtimePayoutDto,
  CreditPayoutDto,
  InitiateCreditPayoutDto,
  MobileMoneyPayoutDto,
} from './payouts.dto';

@ApiTags('Payouts')
@Controller()
export class PayoutsController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /payouts/airtime')
  sendAirtime(@CurrentCall() call: OperationCall, @Body() body: AirtimePayoutDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /payouts/mobile-money')
  sendMobileMoney(@CurrentCall() call: OperationCall, @Body() body: MobileMoneyPayoutDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /payouts/credit')
  sendCredit(@CurrentCall() call: OperationCall, @Body() body: CreditPayoutDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /payouts/initiate-credit')
  initiateCredit(@CurrentCall() call: OperationCall, @Body() body: InitiateCreditPayoutDto) {
    return this.forwarding.run(call, body);
  }
}
