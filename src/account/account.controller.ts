import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Call } from '../auth/call';
import { CurrentCall } from '../auth/current-call';
import { ForwardingService } from '../forwarding/forwarding.service';
import { Operation } from '../forwarding/operation.decorator';
import { INTERFACE_PREFIX } from '../forwarding/operations';
import { DeleteUnpaidTransactionDto, TransactionQuery, TransferDto } from './account.dto';

@ApiTags('Account')
@Controller(INTERFACE_PREFIX)
export class AccountController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /account/transfer', 'Transfer an amount to a sub-account')
  transfer(@CurrentCall() call: Call, @Body() body: TransferDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /account/delete-unpaid-transaction', 'Delete an unpaid transaction')
  deleteUnpaidTransaction(@CurrentCall() call: Call, @Body() body: DeleteUnpaidTransactionDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('GET /account/transaction', 'Get one transaction')
  transaction(@CurrentCall() call: Call, @Query() query: TransactionQuery) {
    return this.forwarding.run(call, query);
  }
}
