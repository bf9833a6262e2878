import { DynamicModule, Module } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { AccountModule } from '../interface/account/account.module';
import { ClientsApiModule } from '../admin/clients/clients-api.module';
import { AccountsModule } from '../admin/accounts/accounts.module';
import { ApprovalsModule } from '../admin/approvals/approvals.module';
import { HistoryModule } from '../history/history.module';
import { AuthModule } from '../access/auth/auth.module';
import { ClientsModule } from '../access/clients/clients.module';
import { CollectionsModule } from '../interface/collections/collections.module';
import { RunningConfig } from '../platform/config/config';
import { SettingsModule } from '../platform/config/config.module';
import { SignInModule } from '../credentials/sign-in/sign-in.module';
import { DatabaseModule } from '../platform/database/database.module';
import { FencingModule } from '../platform/fencing/fencing.module';
import { StorageModule } from '../platform/storage/storage.module';
import { HealthModule } from '../http/health/health.module';
import { InfoModule } from '../interface/info/info.module';
import { JournalModule } from '../journal/journal.module';
import { EphemeralKeysModule } from '../credentials/ephemeral-keys/ephemeral-keys.module';
import { LimitsModule } from '../admin/limits/limits.module';
import { loggingOptions } from '../platform/logging/logging';
import { MetricsModule } from '../http/metrics/metrics.module';
import { OverviewModule } from '../admin/overview/overview.module';
import { PayoutsModule } from '../interface/payouts/payouts.module';
import { ReconciliationModule } from '../reconciliation/reconciliation.module';
import { RedeemModule } from '../interface/redeem/redeem.module';
import { SandboxApiModule } from '../admin/sandbox-api/sandbox-api.module';
import { SendModule } from '../interface/send/send.module';
import { SharesModule } from '../http/shares/shares.module';
import { StopsModule } from '../admin/stops/stops.module';
import { SubAccountsModule } from '../interface/sub-accounts/sub-accounts.module';
import { LogModule } from '../history/log/log.module';
import { RequestValidationPipe } from '../http/validation/validation.pipe';
import { WalletsModule } from '../interface/wallets/wallets.module';

@Module({})
export class AppModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.with(settings),
        LoggerModule.forRoot(loggingOptions(settings.logLevel, 'proxy')),
        DatabaseModule,
        FencingModule,
        StorageModule,
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
        // The history
        HistoryModule,
        LogModule,
        ReconciliationModule,
        OverviewModule,
        // For operators
        ApprovalsModule,
        StopsModule,
        // Clients and their limits
        AccountsModule,
        ClientsApiModule,
        LimitsModule,
        // Sessions and ephemeral keys
        EphemeralKeysModule,
        SignInModule,
        // Health, metrics and the shares of keys
        HealthModule,
        MetricsModule,
        SharesModule,
        // The sandbox
        SandboxApiModule,
      ],
      providers: [{ provide: APP_PIPE, useClass: RequestValidationPipe }],
    };
  }
}
