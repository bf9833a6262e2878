import { Body, Controller, Query } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import { NoProperties } from '../../http/validation/rules/rules';
import {
  DeleteUnpaidTransactionDto,
  IssueTransactionsQuery,
  TransactionQuery,
  TransactionsDto,
  TransferDto,
} from './account.dto';

@ApiTags('Account')
@Controller()
export class AccountController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('POST /account/transfer')
  transferToSubAccount(@CurrentCall() call: OperationCall, @Body() body: TransferDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /account/delete-unpaid-transaction')
  deleteUnpaidTransaction(@CurrentCall() call: OperationCall, @Body() body: DeleteUnpaidTransactionDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('GET /account/transaction')
  readTransaction(@CurrentCall() call: OperationCall, @Query() query: TransactionQuery) {
    return this.forwarding.run(call, query);
  }

  @Operation('POST /account/transactions')
  @ApiBody({ type: TransactionsDto, required: false })
  listTransactions(
    @CurrentCall() call: OperationCall,
    @Query() _query: NoProperties,
    @Body() body: TransactionsDto,
  ) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /account/issue-id-transactions')
  @ApiBody({ type: NoProperties, required: false })
  listBatchTransactions(
    @CurrentCall() call: OperationCall,
    @Query() query: IssueTransactionsQuery,
    @Body() _body: NoProperties,
  ) {
    return this.forwarding.run(call, query);
  }
}
