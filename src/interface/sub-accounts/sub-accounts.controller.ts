import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import { NoProperties } from '../../http/validation/rules/rules';
import { CreateSubAccountDto, SubAccountQuery } from './sub-accounts.dto';

@ApiTags('Sub-accounts')
@Controller()
export class SubAccountsController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('GET /sub-account/list')
  listSubAccounts(@CurrentCall() call: OperationCall, @Query() _query: NoProperties) {
    return this.forwarding.run(call);
  }

  @Operation('POST /sub-account/create')
  createSubAccount(@CurrentCall() call: OperationCall, @Body() body: CreateSubAccountDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('GET /sub-account/get')
  readSubAccount(@CurrentCall() call: OperationCall, @Query() query: SubAccountQuery) {
    return this.forwarding.run(call, query);
  }
}
