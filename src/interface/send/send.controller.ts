import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Call } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/forwarding/operation.decorator';
import { SendDto } from './send.dto';

@ApiTags('Send')
@Controller()
export class SendController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /send')
  send(@CurrentCall() call: Call, @Body() body: SendDto) {
    return this.forwarding.run(call, body);
  }
}
