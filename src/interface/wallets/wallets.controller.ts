import { Body, Controller, Query } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import { NoProperties } from '../../http/validation/rules/rules';
import { WalletLookupDto, WalletTransferDto } from './wallets.dto';

@ApiTags('Wallets')
@Controller()
export class WalletsController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('GET /wallets/list')
  listWallets(@CurrentCall() call: OperationCall, @Query() _query: NoProperties) {
    return this.forwarding.run(call);
  }

  @Operation('GET /wallets/list', 'POST')
  @ApiBody({ type: NoProperties, required: false })
  listWalletsByPost(
    @CurrentCall() call: OperationCall,
    @Query() _query: NoProperties,
    @Body() _body: NoProperties,
  ) {
    return this.forwarding.run(call);
  }

  @Operation('POST /wallets/lookup')
  lookUpWallet(@CurrentCall() call: OperationCall, @Body() body: WalletLookupDto) {
    return this.forwarding.run(call, body);
  }

  @Operation('POST /wallets/transfer')
  transferBetweenWallets(@CurrentCall() call: OperationCall, @Body() body: WalletTransferDto) {
    return this.forwarding.run(call, body);
  }
}
