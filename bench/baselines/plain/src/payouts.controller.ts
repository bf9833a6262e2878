import { Body, Controller, Post, Res, UseGuards } from '@nestjs/common';
import { Response } from 'express';
import { ApiKeyGuard, KeyId } from './api-key.guard';
import { AirtimePayoutDto, MobileMoneyPayoutDto } from './payouts.dto';
import { PayoutsService } from './payouts.service';

@Controller('api/v0.1/payouts')
@UseGuards(ApiKeyGuard)
export class PayoutsController {
  constructor(private readonly payouts: PayoutsService) {}

  @Post('airtime')
  async airtime(@KeyId() keyId: string, @Body() body: AirtimePayoutDto, @Res() response: Response) {
    const { status, data } = await this.payouts.pay(keyId, 'airtime', body);
    response.status(status).json(data);
  }

  @Post('mobile-money')
  async mobileMoney(@KeyId() keyId: string, @Body() body: MobileMoneyPayoutDto, @Res() response: Response) {
    const { status, data } = await this.payouts.pay(keyId, 'mobile-money', body);
    response.status(status).json(data);
  }
}
