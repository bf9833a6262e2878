import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Call } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/forwarding/operation.decorator';
import { RedeemAirtimeDto } from './redeem.dto';

@ApiTags('Redeem')
@Controller()
export class RedeemController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /redeem/airtime')
  redeemAirtime(@CurrentCall() call: Call, @Body() body: RedeemAirtimeDto) {
    return this.forwarding.run(call, body);
  }
}
