import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentCall, OperationCall } from '../../access/auth/call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/operation.decorator';
import { NoProperties } from '../../http/validation/rules/rules';
import { LocalInUsdQuery, UsdInLocalQuery } from './info.dto';

@ApiTags('Info')
@Controller()
export class InfoController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('GET /info/assets')
  listAssets(@CurrentCall() call: OperationCall, @Query() _query: NoProperties) {
    return this.forwarding.run(call);
  }

  @Operation('GET /info/airtime-countries')
  listAirtimeCountries(@CurrentCall() call: OperationCall, @Query() _query: NoProperties) {
    return this.forwarding.run(call);
  }

  @Operation('GET /info/mobile-money-codes')
  listMobileMoneyCodes(@CurrentCall() call: OperationCall, @Query() _query: NoProperties) {
    return this.forwarding.run(call);
  }

  @Operation('GET /info/usd-amount-in-local')
  convertUsdToLocal(@CurrentCall() call: OperationCall, @Query() query: UsdInLocalQuery) {
    return this.forwarding.run(call, query);
  }

  @Operation('GET /info/local-amount-in-usd')
  convertLocalToUsd(@CurrentCall() call: OperationCall, @Query() query: LocalInUsdQuery) {
    return this.forwarding.run(call, query);
  }
}
