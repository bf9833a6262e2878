import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import { RedeemAirtimeDto } from './redeem.dto';

@ApiTags('Redeem')
@Controller()
export class RedeemController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /redeem/airtime')
  redeemAirtime(@CurrentCall() call: OperationCall, @Body() body: RedeemAirtimeDto) {
    return this.forwarding.run(call, body);
  }
}
