import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Call } from '../auth/call';
import { CurrentCall } from '../auth/current-call';
import { ForwardingService } from '../forwarding/forwarding.service';
import { Operation } from '../forwarding/operation.decorator';
import { INTERFACE_PREFIX } from '../forwarding/operations';
import { RedeemAirtimeDto } from './redeem.dto';

@ApiTags('Redeem')
@Controller(INTERFACE_PREFIX)
export class RedeemController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /redeem/airtime', 'Redeem a paid credit as airtime')
  airtime(@CurrentCall() call: Call, @Body() body: RedeemAirtimeDto) {
    return this.forwarding.run(call, body);
  }
}
