import { Global, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { FeeRemovals, StopLifts } from '../access/dual-control/change-document';
import { PayoutSettlements, TransactionAttributions } from '../access/dual-control/payout-changes';
import { GatewayModule } from '../gateway/gateway.module';
import { UpstreamModule } from '../gateway/upstream/upstream.module';
import { HistoryModule } from '../history/history.module';
import { SettlementsByHandService } from '../history/own-calls/settlements-by-hand.service';
import { MetricsModule } from '../http/metrics/metrics.module';
import { JournalModule } from '../journal/journal.module';
import { SpendingService } from '../policy/spending.service';
import { AttributionsService } from '../reconciliation/attributions/attributions.service';
import { ReconciliationModule } from '../reconciliation/reconciliation.module';
import { AccountsController } from './accounts/accounts.controller';
import { AccountsService } from './accounts/accounts.service';
import { ApprovalsController } from './approvals/approvals.controller';
import { ApprovalsService } from './approvals/approvals.service';
import { ForecastService } from './approvals/forecast.service';
import { BeneficiariesController } from './clients/beneficiaries.controller';
import { ChangesController } from './clients/changes.controller';
import { ClientEphemeralKeysController, ClientsController } from './clients/clients.controller';
import { KeyClaimsController, KeysController, SignInsController } from './clients/keys.controller';
import { OperationsController } from './clients/operations.controller';
import {
  PersonLimitsController,
  PersonMergesController,
  PersonRevocationsController,
} from './clients/people.controller';
import { FeesController } from './fees/fees.controller';
import { FeesService } from './fees/fees.service';
import { LimitsController } from './limits/limits.controller';
import { HistoryService } from './overview/history.service';
import { OverviewController } from './overview/overview.controller';
import { OverviewService, OverviewStreams } from './overview/overview.service';
import { SectionsService } from './overview/sections.service';
import { SandboxControlService } from './sandbox-api/control.service';
import { SandboxLiesController } from './sandbox-api/lies.controller';
import { SandboxLiesService } from './sandbox-api/lies.service';
import { SandboxApiController } from './sandbox-api/sandbox-api.controller';
import { SandboxApiService } from './sandbox-api/sandbox-api.service';
import { StopsController } from './stops/stops.controller';
import { StopLiftingService, StopsService } from './stops/stops.service';

@Global() // for the owners of stops, fees and payouts, which dual control must not import from above
@Module({
  imports: [
    AccessModule,
    GatewayModule,
    HistoryModule,
    JournalModule,
    MetricsModule,
    ReconciliationModule,
    UpstreamModule,
  ],
  controllers: [
    OverviewController,
    ApprovalsController,
    StopsController,
    AccountsController,
    ChangesController,
    ClientEphemeralKeysController,
    ClientsController,
    KeyClaimsController,
    KeysController,
    PersonLimitsController,
    PersonMergesController,
    SignInsController,
    BeneficiariesController,
    FeesController,
    OperationsController,
    PersonRevocationsController,
    LimitsController,
    SandboxApiController,
    SandboxLiesController,
  ],
  providers: [
    AccountsService,
    ApprovalsService,
    FeesService,
    ForecastService,
    HistoryService,
    OverviewService,
    OverviewStreams,
    SandboxApiService,
    SandboxControlService,
    SandboxLiesService,
    SectionsService,
    SpendingService,
    StopLiftingService,
    StopsService,
    { provide: FeeRemovals, useExisting: FeesService },
    { provide: PayoutSettlements, useExisting: SettlementsByHandService },
    { provide: StopLifts, useExisting: StopsService },
    { provide: TransactionAttributions, useExisting: AttributionsService },
  ],
  exports: [FeeRemovals, PayoutSettlements, StopLifts, TransactionAttributions],
})
export class AdminModule {}
