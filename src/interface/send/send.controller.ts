import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import { SendDto } from './send.dto';

@ApiTags('Send')
@Controller()
export class SendController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /send')
  send(@CurrentCall() call: OperationCall, @Body() body: SendDto) {
    return this.forwarding.run(call, body);
  }
}
