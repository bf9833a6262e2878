import { DynamicModule, Module } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { AccountModule } from './account/account.module';
import { AdministrationModule } from './administration/administration.module';
import { ApprovalsModule } from './approvals/approvals.module';
import { AuditModule } from './audit/audit.module';
import { AuthModule } from './auth/auth.module';
import { CallsModule } from './calls/calls.module';
import { ClientsModule } from './clients/clients.module';
import { CollectionsModule } from './collections/collections.module';
import { RunningConfig } from './config/config';
import { SettingsModule } from './config/config.module';
import { ConsoleModule } from './console/console.module';
import { DatabaseModule } from './database/database.module';
import { HealthModule } from './health/health.module';
import { InfoModule } from './info/info.module';
import { JournalModule } from './journal/journal.module';
import { LimitsModule } from './limits/limits.module';
import { loggingOptions } from './logging/logging';
import { MetricsModule } from './metrics/metrics.module';
import { OverviewModule } from './overview/overview.module';
import { PayoutsModule } from './payouts/payouts.module';
import { ReconciliationModule } from './reconciliation/reconciliation.module';
import { RedeemModule } from './redeem/redeem.module';
import { SandboxDeskModule } from './sandbox-desk/sandbox-desk.module';
import { SendModule } from './send/send.module';
import { StopsModule } from './stops/stops.module';
import { SubAccountsModule } from './sub-accounts/sub-accounts.module';
import { TransparencyModule } from './transparency/transparency.module';
import { RequestValidationPipe } from './validation/validation.pipe';
import { WalletsModule } from './wallets/wallets.module';

@Module({})
export class AppModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.with(settings),
        LoggerModule.forRoot(loggingOptions(settings.logLevel)),
        DatabaseModule,
        AuthModule,
        ClientsModule,
        JournalModule,
        // The interface
        SendModule,
        PayoutsModule,
        AccountModule,
        WalletsModule,
        SubAccountsModule,
        InfoModule,
        CollectionsModule,
        RedeemModule,
        // What was recorded
        AuditModule,
        TransparencyModule,
        CallsModule,
        ReconciliationModule,
        OverviewModule,
        // What operators do
        ApprovalsModule,
        StopsModule,
        // What clients may do
        AdministrationModule,
        LimitsModule,
        // Where people see all that
        ConsoleModule,
        // How it is
        HealthModule,
        MetricsModule,
        // Trying it out
        SandboxDeskModule,
      ],
      providers: [{ provide: APP_PIPE, useClass: RequestValidationPipe }],
    };
  }
}
