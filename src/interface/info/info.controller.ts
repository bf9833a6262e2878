import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Call } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ForwardingService } from '../../gateway/forwarding/forwarding.service';
import { Operation } from '../../gateway/forwarding/operation.decorator';
import { Nothing } from '../../http/validation/nothing.dto';
import { LocalInUsdQuery, UsdInLocalQuery } from './info.dto';

@ApiTags('Info')
@Controller()
export class InfoController {
  constructor(private readonly forwarding: ForwardingService) {}

  @Operation('GET /info/assets', 'List what a credit can be redeemed for')
  listAssets(@CurrentCall() call: Call, @Query() _query: Nothing) {
    return this.forwarding.run(call);
  }

  @Operation('GET /info/airtime-countries', 'List the countries that airtime can be sent to')
  listAirtimeCountries(@CurrentCall() call: Call, @Query() _query: Nothing) {
    return this.forwarding.run(call);
  }

  @Operation('GET /info/mobile-money-codes', 'List the values of `momoCode`; one is unique only within a country')
  listMobileMoneyCodes(@CurrentCall() call: Call, @Query() _query: Nothing) {
    return this.forwarding.run(call);
  }

  @Operation('GET /info/usd-amount-in-local', 'Convert US dollars into another currency')
  convertUsdToLocal(@CurrentCall() call: Call, @Query() query: UsdInLocalQuery) {
    return this.forwarding.run(call, query);
  }

  @Operation('GET /info/local-amount-in-usd', 'Convert another currency into US dollars')
  convertLocalToUsd(@CurrentCall() call: Call, @Query() query: LocalInUsdQuery) {
    return this.forwarding.run(call, query);
  }
}
