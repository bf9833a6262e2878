import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AllowGuard } from './allow';
import { CallersService } from './callers.service';

@Module({
  providers: [CallersService, { provide: APP_GUARD, useClass: AllowGuard }],
  exports: [CallersService],
})
export class AuthModule {}
